"""Recall counts the evidence's turns that the facts found were taken from, through the product's own search."""

from pathlib import Path

import pytest
from facts.models import Fact
from tenants.models import Tenant
from tenants.scope import every_tenant

from inference.bench.accuracy.locomo import Conversation, read_conversations
from inference.bench.errors import BenchError
from inference.bench.recall import Found, recall_rows, search_all
from inference.bench.report.recall import recall_grid
from tests.bench.conversation import write_conversation


@pytest.fixture
def conversation(tmp_path: Path) -> Conversation:
    (found,) = read_conversations(write_conversation(tmp_path / "own.json"))
    return found


def test_recall_is_the_share_of_the_reachable_turns(conversation: Conversation) -> None:
    both = Found(conversation, conversation.questions[2], {"dense": [5, 2, 0], "lexical": []})
    assert conversation.questions[2].evidence == ("D1:6", "D1:1")
    assert [both.recall("dense", k) for k in (1, 2, 3)] == [0.5, 0.5, 1.0]
    assert both.recall("lexical", 5) == 0.0


def test_evidence_without_a_fact_does_not_count(conversation: Conversation) -> None:
    question = conversation.questions[0]
    lost = Conversation(conversation.name, conversation.turns, conversation.facts[1:], conversation.questions)
    found = Found(lost, question, {"dense": [0], "lexical": [0], "hybrid": [0]})
    assert found.recall("dense", 1) is None
    with pytest.raises(BenchError, match="no question has evidence"):
        recall_rows([found], [1])


@pytest.mark.django_db
def test_all_ways_search_the_stored_facts_and_nothing_is_left_behind(conversation: Conversation) -> None:
    steps = list[int]()
    found = list(search_all([conversation], lambda: steps.append(1)))
    assert len(steps) == len(found) == 3
    kayak = found[0].ranked
    assert kayak["dense"][0] == kayak["lexical"][0] == kayak["hybrid"][0] == 0
    assert sorted(kayak["dense"]) == sorted(kayak["hybrid"]) == list(range(6))
    assert set(kayak["lexical"]) < set(range(6))
    rows = recall_rows(found, [1, 6])
    assert {(row["mode"], row["k"]) for row in rows} == {
        (way, k) for way in ("dense", "lexical", "hybrid") for k in (1, 6)
    }
    best = {(row["mode"], row["k"]): row["recall"] for row in rows}
    assert best["dense", 6] == best["hybrid", 6] == 1.0
    assert best["dense", 1] == pytest.approx(2.5 / 3, abs=1e-5)
    (grid, *_) = recall_grid([{"shape": "m", **row} for row in rows]).rows
    assert grid[:2] == ["m", "dense"]
    assert grid[3].startswith("1.000")
    with every_tenant():
        assert not Tenant.objects.exists()
        assert not Fact.objects.exists()
