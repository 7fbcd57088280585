"""One k's rows in one table: each mode's measures, with intervals, and its differences to prompt mode."""

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from inference.bench.accuracy.locomo import CATEGORIES
from inference.bench.accuracy.measures import mcnemar, mean_estimate
from inference.bench.accuracy.modes import PLAIN, PROMPT, parse_modes
from inference.bench.accuracy.records import QuestionRow, Records

RIGHT_F1 = 0.5
MEASURES: dict[str, Callable[[QuestionRow], float]] = {
    "kl": lambda row: row.kl,
    "top1": lambda row: float(row.top1),
    "gold_token_accuracy": lambda row: row.gold_token_accuracy,
    "f1": lambda row: row.f1,
    "nll": lambda row: row.nll,
}
COMPARED = ("gold_token_accuracy", "f1", "nll")

Place = tuple[str, int]


def summarise(records: Records) -> dict[str, Any]:
    """Only questions that were asked in every mode. `right` are answers whose F1 is at least a half.

    Raises ValueError when there is none.
    """
    by_mode: dict[str, dict[Place, QuestionRow]] = {}
    for row in records.questions:
        by_mode.setdefault(row.mode, {})[row.conversation, row.question] = row
    shared = sorted(set.intersection(*(set(rows) for rows in by_mode.values()))) if by_mode else []
    if PROMPT not in by_mode or not shared:
        raise ValueError("no question was asked in all modes")
    ordered = {mode: [rows[place] for place in shared] for mode, rows in by_mode.items()}
    strategies = {mode: _of_mode(mode, rows, ordered[PROMPT], records) for mode, rows in ordered.items()}
    return {
        "model": records.subject.get("model"),
        "k": records.subject.get("k"),
        "questions": len(shared),
        "strategies": strategies,
        "default": best_strategy(strategies),
        **{name: records.subject[name] for name in ("dataset", "engine", "machine") if name in records.subject},
    }


def best_strategy(strategies: dict[str, dict[str, Any]]) -> str | None:
    """The one with the least KL among those that serve every fact as KV."""
    own = [name for name in strategies if name not in PLAIN and not parse_modes(name)[1].text_tail]
    return min(own, key=lambda name: strategies[name]["kl"], default=None)


def write_summary(path: Path, summary: dict[str, Any]) -> None:
    """Whole or not at all. A line a mode."""
    modes = ",\n  ".join(f"{json.dumps(name)}: {json.dumps(of)}" for name, of in summary["strategies"].items())
    rest = {name: value for name, value in summary.items() if name != "strategies"}
    text = f'{json.dumps(rest)[:-1]}, "strategies": {{\n  {modes}\n}}}}\n'
    aside = path.with_name(f"{path.name}.{os.getpid()}.writing")
    aside.write_text(text)
    aside.replace(path)


def _of_mode(mode: str, rows: Sequence[QuestionRow], prompt: Sequence[QuestionRow], records: Records) -> dict[str, Any]:
    estimates = {name: mean_estimate([measure(row) for row in rows]) for name, measure in MEASURES.items()}
    found: dict[str, Any] = {name: round(estimate.mean, 5) for name, estimate in estimates.items()}
    found["right"] = round(sum(map(_is_right, rows)) / len(rows), 5)
    found["intervals"] = {name: estimate.as_json()[1:] for name, estimate in estimates.items()}
    found["prompt_tokens"] = round(sum(row.prompt_tokens for row in rows) / len(rows), 1)
    found["injected_tokens"] = round(sum(row.injected_tokens for row in rows) / len(rows), 1)
    if mode != PROMPT:
        found["minus_prompt"] = _differences(rows, prompt)
    found["categories"] = _by_category(rows)
    if encoding := _encoding(mode, records):
        found["encoding"] = encoding
    if judged := _judged(mode, rows, prompt, records):
        found["judged"] = judged
    return found


def _differences(rows: Sequence[QuestionRow], prompt: Sequence[QuestionRow]) -> dict[str, Any]:
    """Mean with its paired 95% interval; right and wrong by McNemar's test."""
    found: dict[str, Any] = {}
    for name in COMPARED:
        measure = MEASURES[name]
        pairs = zip(rows, prompt, strict=True)
        found[name] = mean_estimate([measure(ours) - measure(theirs) for ours, theirs in pairs]).as_json()
    found["right"] = _mcnemar([_is_right(row) for row in prompt], [_is_right(row) for row in rows])
    return found


def _by_category(rows: Sequence[QuestionRow]) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for category, name in CATEGORIES.items():
        own = [row for row in rows if row.category == category]
        if own:
            means = {measure: round(sum(map(of, own)) / len(own), 5) for measure, of in MEASURES.items()}
            found[name] = {"questions": len(own), **means}
    return found


def _encoding(mode: str, records: Records) -> dict[str, float] | None:
    """What it costs; the tokens of a fact's own line and the header are among those of its request."""
    if mode in PLAIN:
        return None
    strategy = parse_modes(mode)[1].strategy
    own = {row.conversation: row for row in records.encodes if strategy and row.strategy == strategy.name}
    facts, tokens = sum(row.facts for row in own.values()), sum(row.tokens for row in own.values())
    if not facts:
        return None
    seconds = sum(row.seconds for row in own.values())
    return {"tokens_per_fact": round(tokens / facts, 1), "facts_per_s": round(facts / max(seconds, 1e-9), 1)}


def _judged(
    mode: str, rows: Sequence[QuestionRow], prompt: Sequence[QuestionRow], records: Records
) -> dict[str, Any] | None:
    """Of the questions judged in this mode and in prompt mode."""
    verdicts = [[records.judged.get((row.conversation, row.question, name)) for name in (PROMPT, mode)] for row in rows]
    both = [(theirs, ours) for theirs, ours in verdicts if theirs is not None and ours is not None]
    if not both:
        return None
    before, after = [theirs for theirs, _ in both], [ours for _, ours in both]
    return {"questions": len(both), "accuracy": round(sum(after) / len(both), 5), "right": _mcnemar(before, after)}


def _mcnemar(before: Sequence[bool], after: Sequence[bool]) -> dict[str, float]:
    test = mcnemar(before, after)
    return {"gained": test.gained, "lost": test.lost, "p": round(test.p, 6)}


def _is_right(row: QuestionRow) -> bool:
    return row.f1 >= RIGHT_F1
