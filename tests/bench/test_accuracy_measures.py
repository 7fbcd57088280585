"""Measures of answers, against values worked out by hand."""

import math

import pytest
import torch

from inference.bench.accuracy.measures import mcnemar, mean_estimate, token_f1
from inference.bench.accuracy.teacher import ProbeSession


@pytest.mark.parametrize(
    ("answer", "gold", "f1"),
    [
        ("The agencies!", "adoption agency", 2 * 1 * 0.5 / 1.5),
        ("7 May 2023", "On 7 May, 2023.", 2 * 3 / (3 + 4)),
        ("running", "He runs", 2 * 1 / 3),
        ("a the an", "an apple", 0.0),
        ("", "apple", 0.0),
        ("apple apple", "apple", 2 * 1 / 3),
        ("Comet", "comet", 1.0),
    ],
)
def test_token_f1(answer: str, gold: str, f1: float) -> None:
    assert token_f1(answer, gold) == pytest.approx(f1)


def test_mcnemar_counts_only_questions_whose_verdict_changed() -> None:
    before = [True] * 10 + [False] * 10
    after = [True] * 9 + [False] + [True] * 7 + [False] * 3
    test = mcnemar(before, after)
    assert (test.gained, test.lost) == (7, 1)
    assert test.p == pytest.approx(2 * (math.comb(8, 0) + math.comb(8, 1)) / 2**8)
    assert mcnemar(before, before).p == 1.0


def test_a_means_interval_is_that_of_its_standard_error() -> None:
    values = [float(value % 10) for value in range(1000)]
    estimate = mean_estimate(values)
    error = math.sqrt(8.25 / 1000)
    assert estimate.mean == pytest.approx(4.5)
    assert estimate.low == pytest.approx(4.5 - 1.96 * error, abs=0.02)
    assert estimate.high == pytest.approx(4.5 + 1.96 * error, abs=0.02)
    assert mean_estimate(values) == estimate


def test_a_session_scores_gold_tokens_and_compares_first_distributions() -> None:
    def logits(*rows: tuple[float, ...]) -> torch.Tensor:
        return torch.tensor(rows).log()

    with ProbeSession([[1, 2], [0]]) as probe:
        probe.read(logits((0.2, 0.5, 0.3), (0.1, 0.1, 0.8)), [0, 1], [0, 1], [0, 0])
        probe.read(logits((0.6, 0.3, 0.1)), [0], [0], [1])
    first, second = probe.scores()
    assert first.log_likelihoods == pytest.approx((math.log(0.5), math.log(0.1)))
    assert first.hits == (True, False)
    assert (first.kl, first.top1, second.hits) == (0.0, True, (False,))
    with ProbeSession([[1], [0]], probe.reference) as other:
        # Rows of a prompt that is not whole yet come before the last one and do not count.
        other.read(logits((0.9, 0.05, 0.05), (0.1, 0.1, 0.8)), [0, 1], [0, 1], [0, 0])
        other.read(logits((0.5, 0.2, 0.3)), [0], [0], [0])
    first, second = other.scores()
    expected = 0.2 * math.log(0.2 / 0.5) + 0.5 * math.log(0.5 / 0.2) + 0.3 * math.log(0.3 / 0.3)
    assert first.kl == pytest.approx(expected, abs=1e-6)
    assert not first.top1
    assert second.kl == pytest.approx(0.0, abs=1e-6)
    assert second.top1


def test_only_the_gold_token_is_left_possible_and_only_where_asked() -> None:
    logits = torch.zeros(3, 4)
    with ProbeSession([[2]]) as probe:
        probe.read(logits, [1], [0], [0])
    assert logits[1].tolist() == [-math.inf, -math.inf, 0.0, -math.inf]
    assert logits[0].tolist() == logits[2].tolist() == [0.0] * 4


def test_a_question_that_was_not_asked_is_told() -> None:
    with ProbeSession([[0], [0]]) as probe:
        probe.read(torch.zeros(1, 4), [0], [0], [0])
    with pytest.raises(ValueError, match="not asked"):
        probe.scores()
