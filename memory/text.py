"""Text hygiene: a stored fact must never change the prompt's structure around it."""

import unicodedata
from collections.abc import Sequence

ZERO_WIDTH_JOINER = "\u200d"


def clean_text(text: str, special_tokens: Sequence[str] = ()) -> str:
    """One line of visible text: whitespace collapsed, control characters removed, special tokens broken up.

    `special_tokens` are the tokenizer's strings that would be read as control tokens; each occurrence
    gets a space after its first character, until none is left. Idempotent.
    """
    visible = "".join(" " if c.isspace() else c for c in text if c.isspace() or not _is_control(c))
    line = " ".join(visible.split())
    ordered = sorted((token for token in special_tokens if len(token) > 1), key=len, reverse=True)
    while found := next((token for token in ordered if token in line), None):
        broken = f"{found[0]} {found[1:]}"
        if found in broken:  # nothing a space can break: drop it
            broken = ""
        line = " ".join(line.replace(found, broken).split())
    return line


def fact_line(text: str) -> str:
    """A fact in serving format: one line of the memory block, its newline included."""
    return f"- {text}\n"


def _is_control(character: str) -> bool:
    category = unicodedata.category(character)
    return category in ("Cc", "Cs", "Co", "Cn") or (category == "Cf" and character != ZERO_WIDTH_JOINER)
