"""A prompt in its parts: nothing is lost, whatever the template makes of the chat."""

import pytest

from memory.prompt.pieces import cut_prompt

BLOCK = ["<sys>Memories:\n", "- One.\n", "- Two.\n", "End."]
MEMORY = "".join(BLOCK)


def cut(text: str, *, block: list[str] = BLOCK, system: str = "Be kind.", question: str = "Why?") -> list[str]:
    pieces = cut_prompt(text, block=block, instructions=[system], question=question, has_history=False)
    assert "".join(piece for _, piece in pieces) == text
    assert all(piece for _, piece in pieces)
    return [kind for kind, _ in pieces]


KNOWN = ["header", "fact", "fact", "closing"]


@pytest.mark.parametrize(
    ("rest", "kinds"),
    [
        ("\n\nBe kind.</sys><user>Why?</user>", ["system", "template", "question", "template"]),
        ("</sys><user>Why?</user>", ["template", "question", "template"]),
        ("\n\nBe kind.</sys><user>WHY?</user>", ["system", "template"]),
        ("\n\nBe kind.Why?", ["system", "question"]),
        ("", []),
    ],
)
def test_what_follows_the_memory(rest: str, kinds: list[str]) -> None:
    assert cut(MEMORY + rest) == [*KNOWN, *kinds]


def test_a_question_that_the_memory_has_too_is_the_last_one() -> None:
    assert cut(f"{MEMORY}<user>Two.</user>", question="Two.") == [*KNOWN, "template", "question", "template"]
    assert cut(f"{MEMORY}<user></user>", question="Two.") == [*KNOWN, "template"]
    assert cut(f"{MEMORY}<user></user>", question=" ") == [*KNOWN, "template"]


def test_without_memory_there_is_the_chat_alone() -> None:
    assert cut("<sys>Be kind.</sys><user>Why?", block=[]) == ["system", "template", "question"]
