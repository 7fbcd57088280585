"""A LoCoMo file is read whole, its known faults included."""

import json
import lzma
from pathlib import Path

import pytest

from inference.bench.accuracy.locomo import DatasetError, read_conversations, turn_ids
from tests.bench.conversation import DATE, conversation, write_conversation


def test_facts_have_their_sessions_date_and_turns_and_only_answerable_questions_count(tmp_path: Path) -> None:
    (found,) = read_conversations(write_conversation(tmp_path / "own.json"))
    assert found.facts[0].text == f"[{DATE}] Mira bought a red kayak named Comet."
    assert found.facts[3].turns == ("D1:3", "D1:4")
    assert [question.category for question in found.questions] == [4, 4, 1]
    assert found.questions[2].evidence == ("D1:6", "D1:1")


def test_a_compressed_file_is_the_same(tmp_path: Path) -> None:
    plain, packed = write_conversation(tmp_path / "own.json"), tmp_path / "own.json.xz"
    packed.write_bytes(lzma.compress(plain.read_bytes()))
    assert read_conversations(packed) == read_conversations(plain)


def test_sessions_come_in_their_numbers_order(tmp_path: Path) -> None:
    item = conversation()
    for number in (10, 2):
        item["conversation"] |= {
            f"session_{number}_date_time": "later",
            f"session_{number}": [{"speaker": "Mira", "dia_id": f"D{number}:1", "text": f"session {number}"}],
        }
        item["observation"][f"session_{number}_observation"] = {"Mira": [[f"fact {number}", f"D{number}:1"]]}
    path = tmp_path / "own.json"
    path.write_text(json.dumps([item]))
    (found,) = read_conversations(path)
    assert [fact.text for fact in found.facts[-2:]] == ["[later] fact 2", "[later] fact 10"]
    assert [turn.id for turn in found.turns[-2:]] == ["D2:1", "D10:1"]


def test_the_turns_before_a_fact_end_before_the_last_it_came_from(tmp_path: Path) -> None:
    (found,) = read_conversations(write_conversation(tmp_path / "own.json"))
    assert [turn.id for turn in found.turns_before(found.facts[3], 2)] == ["D1:2", "D1:3"]
    assert [turn.id for turn in found.turns_before(found.facts[3], 9)] == ["D1:1", "D1:2", "D1:3"]
    assert found.turns_before(found.facts[0], 3) == ()
    assert found.turns_before(found.facts[3], 0) == ()


@pytest.mark.parametrize(
    ("raw", "ids"),
    [("D1:3", ("D1:3",)), (["D8:6; D9:17"], ("D8:6", "D9:17")), (["D"], ()), (["D:11:26"], ()), ([], ())],
)
def test_malformed_sources_are_taken_for_what_they_hold(raw: object, ids: tuple[str, ...]) -> None:
    assert turn_ids(raw) == ids


@pytest.mark.parametrize("content", ["[", "{}", '[{"sample_id": "a"}]', "[]"])
def test_other_files_are_refused_by_name(tmp_path: Path, content: str) -> None:
    path = tmp_path / "other.json"
    path.write_text(content)
    with pytest.raises(DatasetError, match=r"other\.json"):
        read_conversations(path)
