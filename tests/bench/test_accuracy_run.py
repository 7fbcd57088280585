"""`manage.py bench accuracy` on a conversation of our own, through the real engine with the demo model."""

import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from config.env import ROOT
from django.conf import settings
from django.core.management import CommandError, call_command

from inference.bench.accuracy.locomo import read_conversations
from inference.bench.accuracy.modes import Mode
from inference.bench.accuracy.prompts import chat
from inference.bench.accuracy.records import Records, records_path
from inference.bench.accuracy.run import InjectionError, check_injected, stop_ids
from inference.bench.inprocess import BatchedAnswer
from memory.models import resolve_model
from memory.prompt import ChatTemplate, compose_prompt
from tests.bench.conversation import write_conversation

MODES = "none,turns(2),neighbours(3),nearest(3)+tail(2),prompt again"
RELATIVE = 0.03  # bfloat16, by two implementations


def bench(data: Path, summary: Path, modes: str) -> str:
    arguments = ["--data", str(data), "--k", "5", "--strategies", modes, "--json", str(summary)]
    command = [sys.executable, str(ROOT / "manage.py"), "bench", "accuracy", *arguments]
    environment = os.environ | {"VLLM_CPU_KVCACHE_SPACE": "1"}
    done = subprocess.run(command, check=True, env=environment, capture_output=True, text=True, timeout=500)
    return done.stdout


def log_likelihoods(folder: Path, prompt: list[int], gold: list[int]) -> list[float]:
    """By transformers."""
    from transformers import AutoModelForCausalLM

    model: Any = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.bfloat16)
    with torch.inference_mode():
        logits = model(torch.tensor([[*prompt, *gold]])).logits[0].float().log_softmax(-1)
    return [float(logits[len(prompt) - 1 + at, token]) for at, token in enumerate(gold)]


@pytest.mark.engine
def test_modes_are_measured_through_the_engine_and_only_what_is_missing(tmp_path: Path) -> None:
    data, path = write_conversation(tmp_path / "own.json"), tmp_path / "r.json"
    bench(data, path, MODES)
    summary = json.loads(path.read_text())
    modes = summary["strategies"]
    assert (summary["model"], summary["k"], summary["questions"]) == ("SmolLM2-135M-Instruct", 5, 3)
    assert set(modes) == {"prompt", *MODES.split(",")}
    assert modes["prompt"]["kl"] == 0
    assert modes["prompt again"]["kl"] < 0.01
    assert modes["prompt again"]["kl"] < modes["neighbours(3)"]["kl"] < modes["none"]["kl"]
    assert modes["prompt"]["injected_tokens"] == modes["none"]["injected_tokens"] == 0
    assert 0 < modes["nearest(3)+tail(2)"]["injected_tokens"] < modes["neighbours(3)"]["injected_tokens"]
    assert modes["neighbours(3)"]["prompt_tokens"] == modes["prompt"]["prompt_tokens"]
    assert modes["neighbours(3)"]["encoding"]["tokens_per_fact"] > modes["turns(2)"]["encoding"]["tokens_per_fact"]
    before = Records(records_path(path)).questions

    again = bench(data, path, f"{MODES},neighbours(0)")
    rows = Records(records_path(path)).questions
    assert rows[: len(before)] == before
    assert {row.mode for row in rows[len(before) :]} == {"neighbours(0)"}
    assert "neighbours(0)" in again
    assert_is_what_transformers_says(data, rows)


def assert_is_what_transformers_says(data: Path, rows: list[Any]) -> None:
    """The first question's gold answer without memory."""
    from transformers import AutoTokenizer

    folder = resolve_model("demo", settings.ENV.home)
    template = ChatTemplate(AutoTokenizer.from_pretrained(str(folder)))
    question = read_conversations(data)[0].questions[0]
    gold = template.tokenizer.encode(question.gold, add_special_tokens=False)
    expected = log_likelihoods(folder, compose_prompt(template, chat(question), []).token_ids, gold)
    (row,) = (row for row in rows if row.mode == "none" and row.question == question.number)
    assert row.gold_tokens == len(gold)
    assert row.nll == pytest.approx(-math.fsum(expected) / len(gold), rel=RELATIVE)


def test_facts_that_were_computed_end_the_run() -> None:
    answers = [BatchedAnswer([1], 90, None), BatchedAnswer([1], 60, None)]
    check_injected(Mode("turns(1)"), [90, 60], answers)
    with pytest.raises(InjectionError, match=r"turns\(1\): 1 of 2 requests were not injected whole, 60 tokens of 90"):
        check_injected(Mode("turns(1)"), [90, 90], answers)


def test_answers_end_where_the_model_says() -> None:
    from transformers import AutoTokenizer

    folder = resolve_model("demo", settings.ENV.home)
    assert stop_ids(folder, AutoTokenizer.from_pretrained(str(folder))) == (2,)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--strategies", "guess"], "a strategy is one of"),
        (["--k", "5,20"], r"needs \{k\}"),
        (["--data", "absent.json"], r"absent\.json"),
        (["--json", "absent/r.json"], "no folder absent"),
    ],
)
def test_wrong_arguments_are_refused(tmp_path: Path, arguments: list[str], complaint: str) -> None:
    data = write_conversation(tmp_path / "own.json")
    fine = ["--data", str(data), "--json", str(tmp_path / "r.json")]
    with pytest.raises(CommandError, match=complaint):
        call_command("bench", "accuracy", *fine, *arguments)
