"""Reciprocal rank fusion."""

from memory.retrieval import fuse_ranks


def test_what_both_rankings_have_comes_before_what_one_has() -> None:
    assert fuse_ranks(["a", "b", "c"], ["c", "d", "b"]) == ["c", "b", "a", "d"]


def test_one_ranking_stays_as_it_is_and_ties_keep_the_firsts_order() -> None:
    assert fuse_ranks([3, 1, 2]) == [3, 1, 2]
    assert fuse_ranks([1, 2], [3, 4]) == [1, 3, 2, 4]
    assert fuse_ranks() == []


def test_a_first_place_weighs_more_than_two_far_ones() -> None:
    far = [*range(100, 130), "x"]
    assert fuse_ranks(["a"], far, [*range(200, 230), "x"])[0] == "a"
