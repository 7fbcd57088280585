"""A strategy's configured form and the versioned name that stands in blob keys."""

import pytest

from memory.encoding import (
    Nearest,
    Neighbours,
    Stages,
    Turns,
    Window,
    parse_stages,
    parse_strategy,
    strategy_names,
    text_tail,
)


def test_the_configured_forms_are_understood() -> None:
    assert parse_strategy("neighbours(16)") == Neighbours(16)
    assert parse_strategy(" window(8) ") == Window(8)
    assert parse_strategy("nearest(16)") == Nearest(16)
    assert parse_strategy("turns(20)") == Turns(20)
    assert parse_strategy("neighbours(16)+turns(5)") == Neighbours(16, turns=5)


def test_the_name_has_the_version() -> None:
    assert parse_strategy("neighbours(16)").name == "neighbours(16)/1"
    assert strategy_names("window(8)") == ("window(8)/2",)
    assert strategy_names("nearest(16)+turns(5)") == ("nearest(16)+turns(5)/1",)


def test_a_tail_served_as_text_is_no_part_of_the_name() -> None:
    assert text_tail("neighbours(16)+tail(3)") == 3
    assert text_tail("neighbours(16)") == 0
    assert strategy_names("neighbours(16)+tail(3)") == strategy_names("neighbours(16)")


def test_a_cheap_first_stage_is_refined_to_the_best() -> None:
    stages = parse_stages("window(16)>nearest(8)+turns(2)+tail(3)")
    assert stages == Stages(Window(16), Nearest(8, turns=2))
    assert strategy_names("window(16)>nearest(8)+turns(2)+tail(3)") == ("nearest(8)+turns(2)/1", "window(16)/2")
    assert text_tail("window(16)>nearest(8)+turns(2)+tail(3)") == 3
    assert parse_stages("neighbours(16)") == Stages(Neighbours(16), Neighbours(16))


@pytest.mark.parametrize(
    ("text", "refine"),
    [("neighbours(16)", False), ("window(16)", False), ("nearest(16)", True), ("window(16)>neighbours(16)", True)],
)
def test_facts_are_refined_where_a_later_context_may_be_better(text: str, refine: bool) -> None:
    assert parse_stages(text).refine is refine


@pytest.mark.parametrize(
    "text", ["window(16)>", ">nearest(8)", "window(1)>nearest(1)>nearest(2)", "window(1)+tail(1)>nearest(1)"]
)
def test_a_stage_that_is_no_strategy_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not"):
        parse_stages(text)


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
    assert strategy_names(text) == (text,), "a name no encoding has"
