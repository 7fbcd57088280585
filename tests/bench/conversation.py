"""A conversation of our own in LoCoMo's file format."""

import json
from pathlib import Path
from typing import Any

TALK = (
    ("Mira", "I finally bought the red kayak, and I named it Comet."),
    ("Otto", "Lovely! My sister Hanna moved to Bergen last week."),
    ("Mira", "Does she still play the cello?"),
    ("Otto", "Every evening. I started baking rye bread, by the way."),
    ("Mira", "I will run the marathon in Turin with my cousin Leo."),
    ("Otto", "Good luck! Our cat Biscuit broke the blue vase."),
)
OBSERVATIONS = (
    ("Mira", "Mira bought a red kayak named Comet.", "D1:1"),
    ("Mira", "Mira will run the marathon in Turin with her cousin Leo.", ["D1:5"]),
    ("Otto", "Otto's sister Hanna moved to Bergen.", "D1:2"),
    ("Otto", "Hanna plays the cello every evening.", ["D1:3", "D1:4"]),
    ("Otto", "Otto bakes rye bread.", "D1:4"),
    ("Otto", "Otto's cat Biscuit broke the blue vase.", "D1:6"),
)
QUESTIONS: tuple[tuple[str, str, int, list[str]], ...] = (
    ("What is the name of Mira's kayak?", "Comet", 4, ["D1:1"]),
    ("Where did Hanna move?", "Bergen", 4, ["D1:2"]),
    ("Who broke the vase, and who owns a kayak?", "Biscuit; Mira", 1, ["D1:6; D1:1"]),
    ("What did Mira never say?", "Nothing", 5, []),
)
DATE = "9:00 am on 3 May, 2024"


def conversation() -> dict[str, Any]:
    by_speaker: dict[str, list[list[Any]]] = {}
    for speaker, text, source in OBSERVATIONS:
        by_speaker.setdefault(speaker, []).append([text, source])
    turns = [
        {"speaker": name, "dia_id": f"D1:{number}", "text": text} for number, (name, text) in enumerate(TALK, start=1)
    ]
    questions = [
        {"question": text, "answer": answer, "category": category, "evidence": evidence}
        for text, answer, category, evidence in QUESTIONS
    ]
    return {
        "sample_id": "own-1",
        "conversation": {"speaker_a": "Mira", "session_1_date_time": DATE, "session_1": turns},
        "observation": {"session_1_observation": by_speaker},
        "qa": questions,
    }


def write_conversation(path: Path) -> Path:
    path.write_text(json.dumps([conversation()]))
    return path
