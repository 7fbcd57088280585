"""What the rules make of pairs of facts whose outcome is known, with the vectors of the demo's embedding model."""

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from facts.embedding import embed_texts, vector_of
from facts.truth import Relation, compare

PAIRS = Path(__file__).with_name("pairs.tsv")


@dataclass(frozen=True)
class Pair:
    language: str
    outcome: Relation
    stored: str
    new: str
    found: Relation


def pairs() -> Iterator[Pair]:
    with PAIRS.open(encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
    texts = [row[side] for row in rows for side in ("stored", "new")]
    vectors = [vector_of(stored) for stored in embed_texts(texts, model="demo") if stored is not None]
    for row, stored, new in zip(rows, vectors[::2], vectors[1::2], strict=True):
        found = compare(row["stored"], row["new"], float(stored @ new))
        yield Pair(row["language"], Relation(row["outcome"]), row["stored"], row["new"], found)


@pytest.fixture(scope="module")
def judged() -> list[Pair]:
    return list(pairs())


def test_no_two_different_facts_are_made_one_or_set_against_each_other(judged: list[Pair]) -> None:
    harmless = (Relation.DIFFERENT, Relation.UNSURE)
    assert [pair for pair in judged if pair.outcome is Relation.DIFFERENT and pair.found not in harmless] == []


def test_what_the_rules_decide_is_right(judged: list[Pair]) -> None:
    decided = [pair for pair in judged if pair.found is not Relation.UNSURE]
    wrong = [pair for pair in decided if pair.found is not pair.outcome]
    assert len(judged) >= 60
    assert len(wrong) <= 0.01 * len(decided), wrong


def test_most_pairs_need_no_model(judged: list[Pair]) -> None:
    assert sum(pair.found is Relation.UNSURE for pair in judged) <= 0.2 * len(judged)


def test_contradictions_are_found_in_several_languages(judged: list[Pair]) -> None:
    found = {pair.language for pair in judged if pair.outcome is pair.found is Relation.CONTRADICTS}
    assert found >= {"en", "de", "fr", "es", "it", "pt", "zh", "ja"}


def test_without_vectors_rules_alone_still_decide() -> None:
    assert compare("Ana lives in Berlin.", "Ana moved to Paris.", None) is Relation.CONTRADICTS
    assert compare("Ana lives in Berlin.", "ANA lives in Berlin", None) is Relation.SAME
    assert compare("Ana lives in Berlin.", "Bob keeps bees.", None) is Relation.DIFFERENT
