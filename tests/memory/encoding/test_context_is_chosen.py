"""Neighbours are the nearest earlier facts, best last; a window is the preceding ones."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from memory.encoding import Nearest, Neighbours, Turns, Window

Vector = NDArray[np.float32]


def at(degrees: float) -> Vector:
    """A unit vector; the cosine of two falls with the angle between them."""
    return np.array([np.cos(np.radians(degrees)), np.sin(np.radians(degrees))], dtype=np.float32)


def test_the_nearest_stand_last_and_the_rest_is_left_out() -> None:
    earlier = [at(10), at(80), at(5), at(40), at(170)]
    assert Neighbours(3).choose(at(0), earlier) == [3, 0, 2]


def test_age_does_not_count_but_breaks_ties_in_favour_of_the_later() -> None:
    assert Neighbours(2).choose(at(0), [at(30), at(90), at(30), at(30)]) == [2, 3]


def test_few_earlier_facts_are_all_taken() -> None:
    assert Neighbours(16).choose(at(0), [at(10), at(20)]) == [1, 0]


def test_the_first_fact_has_no_context() -> None:
    assert Neighbours(16).choose(at(0), []) == []
    assert Window(16).choose(None, []) == []


def test_a_fact_without_vector_has_the_most_recent_as_neighbours() -> None:
    assert Neighbours(2).choose(None, [at(0), at(1), None, at(3)]) == [2, 3]


def test_places_left_free_go_to_the_most_recent_facts_without_vector_standing_farthest() -> None:
    assert Neighbours(4).choose(at(0), [None, at(20), None, None, at(10)]) == [2, 3, 1, 4]


def test_facts_without_vector_take_no_place_from_those_with_one() -> None:
    assert Neighbours(2).choose(at(0), [at(20), None, at(10), None]) == [0, 2]


def test_vectors_of_another_model_count_as_missing() -> None:
    other = np.ones(3, dtype=np.float32)
    assert Neighbours(2).choose(at(0), [other, at(90)]) == [0, 1]


def test_a_window_is_the_preceding_facts_in_their_order() -> None:
    assert Window(2).choose(at(0), [at(0), at(90), None]) == [1, 2]


@pytest.mark.parametrize("strategy", [Neighbours(0), Window(0)])
def test_none_means_none(strategy: Neighbours) -> None:
    assert strategy.choose(at(0), [at(0), None]) == []


def test_nearest_looks_at_later_facts_too_and_neighbours_do_not() -> None:
    assert Nearest(2).choose(at(0), [at(30), at(90), at(10)]) == [0, 2]
    assert Nearest.looks_ahead
    assert not Neighbours.looks_ahead


def test_turns_take_no_facts() -> None:
    assert Turns(3).choose(at(0), [at(0)]) == []
    assert (Turns(3).turns_read, Turns.has_header) == (3, False)
    assert (Neighbours(16, turns=2).turns_read, Neighbours.has_header) == (2, True)


@given(st.lists(st.none() | st.floats(0, 360), max_size=30), st.none() | st.floats(0, 360), st.integers(0, 20))
def test_never_more_than_n_never_twice_never_fewer_than_there_are(
    angles: list[float | None], own: float | None, n: int
) -> None:
    earlier = [None if angle is None else at(angle) for angle in angles]
    for strategy in (Neighbours(n), Window(n)):
        chosen = strategy.choose(None if own is None else at(own), earlier)
        assert len(chosen) == len(set(chosen)) == min(n, len(earlier))
        assert all(0 <= index < len(earlier) for index in chosen)
