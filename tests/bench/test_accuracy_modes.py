"""Modes by name."""

import pytest

from inference.bench.accuracy.modes import Mode, parse_modes
from memory.encoding import Nearest, Neighbours, Turns


def test_prompt_mode_comes_first_and_each_mode_once() -> None:
    assert parse_modes("none, turns(20),none,neighbours(16)+turns(5)+tail(3),nearest(16),prompt  again") == [
        Mode("prompt"),
        Mode("none"),
        Mode("turns(20)", Turns(20)),
        Mode("neighbours(16)+turns(5)+tail(3)", Neighbours(16, turns=5), text_tail=3),
        Mode("nearest(16)", Nearest(16)),
        Mode("prompt again"),
    ]


@pytest.mark.parametrize(
    "name", ["injected", "turns", "neighbours(16)+", "turns(3)+turns(2)", "tail(3)", "none+tail(1)"]
)
def test_others_are_refused_with_the_known_ones(name: str) -> None:
    with pytest.raises(ValueError, match=r"prompt, none, prompt again, or a strategy.*nearest\(n\)"):
        parse_modes(name)
