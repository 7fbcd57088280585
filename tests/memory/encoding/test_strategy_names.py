"""A strategy's configured form and the versioned name that stands in blob keys."""

import pytest

from memory.encoding import Neighbours, Window, parse_strategy, strategy_name


def test_the_configured_forms_are_understood() -> None:
    assert parse_strategy("neighbours(16)") == Neighbours(16)
    assert parse_strategy(" window(8) ") == Window(8)


def test_the_name_has_the_version() -> None:
    assert parse_strategy("neighbours(16)").name == "neighbours(16)/1"
    assert strategy_name("window(8)") == "window(8)/2"


@pytest.mark.parametrize("text", ["", "neighbours", "neighbours(-1)", "neighbours(1000)", "turns(3)x", "nearest(3)"])
def test_others_are_refused_with_the_known_forms(text: str) -> None:
    with pytest.raises(ValueError, match=r"neighbours\(n\), window\(n\)"):
        parse_strategy(text)
    assert strategy_name(text) == text, "a name no encoding has"
