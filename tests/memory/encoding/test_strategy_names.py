"""A strategy's configured form and the versioned name that stands in blob keys."""

import pytest

from memory.encoding import Nearest, Neighbours, Turns, Window, parse_strategy, strategy_name, text_tail


def test_the_configured_forms_are_understood() -> None:
    assert parse_strategy("neighbours(16)") == Neighbours(16)
    assert parse_strategy(" window(8) ") == Window(8)
    assert parse_strategy("nearest(16)") == Nearest(16)
    assert parse_strategy("turns(20)") == Turns(20)
    assert parse_strategy("neighbours(16)+turns(5)") == Neighbours(16, turns=5)


def test_the_name_has_the_version() -> None:
    assert parse_strategy("neighbours(16)").name == "neighbours(16)/1"
    assert strategy_name("window(8)") == "window(8)/2"
    assert strategy_name("nearest(16)+turns(5)") == "nearest(16)+turns(5)/1"


def test_a_tail_served_as_text_is_no_part_of_the_name() -> None:
    assert text_tail("neighbours(16)+tail(3)") == 3
    assert text_tail("neighbours(16)") == 0
    assert strategy_name("neighbours(16)+tail(3)") == strategy_name("neighbours(16)")


@pytest.mark.parametrize(
    "text",
    [
        "", "neighbours", "neighbours(-1)", "neighbours(1000)", "turns(3)x", "tail(3)", "+tail(3)", "neighbours(16)+",
        "neighbours(16)+neighbours(2)", "neighbours(16)+tail(1)+tail(2)", "turns(3)+turns(2)",
    ],
)  # fmt: skip
def test_others_are_refused_with_the_known_forms(text: str) -> None:
    with pytest.raises(ValueError, match=r"neighbours\(n\), nearest\(n\), window\(n\), turns\(n\)"):
        parse_strategy(text)
    assert strategy_name(text) == text, "a name no encoding has"
