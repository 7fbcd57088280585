"""Rows survive what cuts a run off, and are never mixed with another's."""

from pathlib import Path

import pytest

from inference.bench.accuracy.records import EncodeRow, OtherSubjectError, QuestionRow, Records, records_path
from inference.bench.accuracy.summary import summarise, write_summary
from inference.bench.errors import BenchError
from inference.bench.report.accuracy import accuracy_grid
from inference.bench.results import read_measured

SUBJECT = {"model": "m", "dataset": "d", "k": 50, "machine": {"cpu": "c"}, "engine": {}}


def row(question: int, mode: str, *, kl: float = 0.0, top1: bool = True, hits: int = 2, f1: float = 0.6) -> QuestionRow:
    category = 4 if question % 2 else 1
    return QuestionRow("c", question, category, mode, kl, top1, 1.0, 4, hits, f1, 100, 90, "text")


def records(path: Path) -> Records:
    made = Records(path)
    made.begin(SUBJECT)
    made.add([row(number, "prompt") for number in range(4)])
    made.add([EncodeRow("c", "neighbours(16)/1", 10, 5000, 2.0), EncodeRow("c", "turns(5)/1", 10, 1000, 1.0)])
    made.add([row(number, "neighbours(16)", kl=0.1, hits=1, f1=0.0 if number else 0.6) for number in range(4)])
    made.add([row(number, "turns(5)", kl=0.5, top1=False) for number in range(4)])
    made.add([row(number, "neighbours(16)+tail(3)", kl=0.01) for number in range(4)])
    return made


def test_rows_are_there_again(tmp_path: Path) -> None:
    made = records(tmp_path / "r.jsonl.gz")
    again = Records(tmp_path / "r.jsonl.gz")
    assert (again.questions, again.encodes, again.subject) == (made.questions, made.encodes, SUBJECT)
    assert again.has("c", "turns(5)", 4)
    assert not again.has("c", "turns(5)", 5)
    assert not again.has("c", "turns(6)", 1)


def test_what_was_cut_off_is_lost_alone_and_more_can_be_added(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl.gz"
    whole = records(path).questions
    path.write_bytes(path.read_bytes()[:-5])
    cut = Records(path)
    assert cut.questions == whole[:-4]
    cut.add([row(0, "none")])
    assert Records(path).questions == [*whole[:-4], row(0, "none")]


def test_rows_of_another_model_or_machine_are_not_added(tmp_path: Path) -> None:
    records(tmp_path / "r.jsonl.gz")
    with pytest.raises(OtherSubjectError, match="another model"):
        Records(tmp_path / "r.jsonl.gz").begin({**SUBJECT, "model": "n"})


def test_a_file_of_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "r.jsonl.gz").write_text("rows")
    with pytest.raises(BenchError, match="not a file of compressed rows"):
        Records(tmp_path / "r.jsonl.gz")


def test_the_summary_has_means_intervals_categories_costs_and_the_winner(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    summary = summarise(records(records_path(path)))
    write_summary(path, summary)
    (found,) = read_measured(path)["rows"]
    assert found == {"kind": "accuracy", **summary}
    assert (found["model"], found["k"], found["questions"], found["default"]) == ("m", 50, 4, "neighbours(16)")
    modes = found["strategies"]
    assert list(modes) == ["prompt", "neighbours(16)", "turns(5)", "neighbours(16)+tail(3)"]
    neighbours = modes["neighbours(16)"]
    assert (neighbours["kl"], neighbours["top1"], neighbours["gold_token_accuracy"]) == (0.1, 1.0, 0.25)
    assert neighbours["minus_prompt"]["gold_token_accuracy"] == [-0.25, -0.25, -0.25]
    assert neighbours["minus_prompt"]["right"] == {"gained": 0, "lost": 3, "p": 0.25}
    assert neighbours["encoding"] == {"tokens_per_fact": 500.0, "facts_per_s": 5.0}
    assert modes["neighbours(16)+tail(3)"]["encoding"] == neighbours["encoding"]
    assert neighbours["categories"]["multi-hop"]["questions"] == 2
    assert "minus_prompt" not in modes["prompt"]
    line = accuracy_grid([found]).rows[1]
    assert line[3:8] == ["**neighbours(16)**", "0.100", "1.000", "0.2500", "-25.00 (-25.00 to -25.00)"]


def test_only_questions_asked_in_every_mode_are_compared(tmp_path: Path) -> None:
    made = records(tmp_path / "r.jsonl.gz")
    made.add([row(0, "none"), row(1, "none")])
    assert summarise(made)["questions"] == 2


def test_verdicts_of_a_judge_are_compared_with_prompt_modes(tmp_path: Path) -> None:
    made = records(tmp_path / "r.jsonl.gz")
    made.add_judged({("c", number, "prompt"): True for number in range(3)})
    made.add_judged({("c", number, "turns(5)"): number == 0 for number in range(4)})
    judged = summarise(Records(tmp_path / "r.jsonl.gz"))["strategies"]["turns(5)"]["judged"]
    assert judged == {"questions": 3, "accuracy": 0.33333, "right": {"gained": 0, "lost": 2, "p": 0.5}}
