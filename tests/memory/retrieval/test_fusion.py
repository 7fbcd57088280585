"""Reciprocal rank fusion."""

import numpy as np
import pytest

from memory.retrieval import fuse_ranks
from memory.retrieval.fusion import CONSTANT, Ids, Places


def whole(ranking: list[int]) -> tuple[Ids, Places]:
    return np.array(ranking, dtype=np.int64), np.arange(1, len(ranking) + 1)


def fused(*rankings: list[int]) -> list[int]:
    ids, scores = fuse_ranks(*map(whole, rankings))
    found: list[int] = ids.tolist()
    for one, score in zip(found, scores.tolist(), strict=True):
        shares = [1 / (CONSTANT + ranking.index(one) + 1) for ranking in rankings if one in ranking]
        assert score == pytest.approx(sum(shares))
    return found


def test_what_both_rankings_have_comes_before_what_one_has() -> None:
    assert fused([1, 2, 3], [3, 4, 2]) == [3, 2, 1, 4]


def test_one_ranking_stays_as_it_is_and_ties_keep_the_firsts_order() -> None:
    assert fused([3, 1, 2]) == [3, 1, 2]
    assert fused([3, 1, 2], []) == [3, 1, 2]
    assert fused([1, 2], [3, 4]) == [1, 3, 2, 4]
    assert fused() == []


def test_a_first_place_weighs_more_than_two_far_ones() -> None:
    assert fused([1], [*range(100, 130), 2], [*range(200, 230), 2])[0] == 1


def test_a_part_of_a_ranking_gives_those_in_it_the_scores_that_the_whole_gives_them() -> None:
    ids, places = whole([5, 3, 9, 1, 7])
    words = whole([7, 3])
    of_all, scores_of_all = fuse_ranks((ids, places), words)
    kept = np.array([0, 1, 4])
    of_part, scores_of_part = fuse_ranks((ids[kept], places[kept]), words)
    expected = {
        one: score for one, score in zip(of_all.tolist(), scores_of_all.tolist(), strict=True) if one in (5, 3, 7)
    }
    assert dict(zip(of_part.tolist(), scores_of_part.tolist(), strict=True)) == expected
    assert list(expected) == of_part.tolist()
