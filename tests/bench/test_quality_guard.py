"""Injected answers stay near those of the full prompt: the demo's own conversation and questions, the demo model."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from config.env import ROOT

from inference.bench.accuracy.records import Records, records_path
from inference.demo.script import conversation, questions

GOOD, PAPERS = "neighbours(16)", "turns(20)"
STORED, FACTS = 32, 24
DIFFERENT_ANSWERS = 2


def write_demo(path: Path) -> Path:
    """The first facts of the demo's conversation in LoCoMo's file format."""
    said = list(enumerate(conversation(), start=1))
    turns = [{"speaker": turn.speaker, "dia_id": f"D1:{number}", "text": turn.text} for number, turn in said]
    facts = [[text, f"D1:{number}"] for number, turn in said for text in turn.facts]
    asked = [
        {"question": each.question, "answer": each.expected, "category": 4, "evidence": []} for each in questions()
    ]
    talk = {"session_1_date_time": f"{said[0][1].said_at:%d %B %Y}", "session_1": turns}
    observed = {"session_1_observation": {"all": facts[:STORED]}}
    item = {"sample_id": "demo", "conversation": talk, "observation": observed, "qa": asked}
    path.write_text(json.dumps([item]))
    return path


@pytest.mark.engine
def test_facts_behind_their_neighbours_answer_as_the_prompt_does(tmp_path: Path) -> None:
    """KL is far below that of the paper's contexts, and the answers name the same."""
    data, path = write_demo(tmp_path / "demo.json"), tmp_path / "r.json"
    options = ["--data", str(data), "--k", str(FACTS), "--strategies", f"{PAPERS},{GOOD}", "--json", str(path)]
    command = [sys.executable, str(ROOT / "manage.py"), "bench", "accuracy", *options]
    subprocess.run(
        command, check=True, env=os.environ | {"VLLM_CPU_KVCACHE_SPACE": "1"}, capture_output=True, timeout=580
    )
    summary = json.loads(path.read_text())
    modes = summary["strategies"]
    assert modes[GOOD]["kl"] < modes[PAPERS]["kl"] / 4
    assert modes[GOOD]["top1"] >= modes[PAPERS]["top1"]
    assert summary["default"] == GOOD
    expected = {number: each.expected.lower() for number, each in enumerate(questions())}
    named = {
        (row.mode, row.question): expected[row.question] in row.answer.lower()
        for row in Records(records_path(path)).questions
    }
    differing = [number for number in expected if named["prompt", number] != named[GOOD, number]]
    assert len(differing) <= DIFFERENT_ANSWERS
