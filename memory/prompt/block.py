"""The memory block's constant text. Changing header or closing line changes every blob key, through the tokens."""

from collections.abc import Sequence

MEMORY_HEADER = "Below is what you remember from earlier conversations. Use it when it helps to answer.\nMemories:\n"

# Begins with a letter and ends without white space: whatever the template trims or the application's text begins
# with, the last fact's tokens stay those it was encoded as.
CLOSING_LINE = "End of memories."

LATER_HEADER = "More of what you remember:\n"


def memory_block(lines: Sequence[str]) -> str:
    """Header, fact lines and closing line. Lines come from `ChatTemplate.line`."""
    return _block(MEMORY_HEADER, lines)


def later_block(lines: Sequence[str]) -> str:
    """The same for facts that join a conversation which has begun; they are always computed."""
    return _block(LATER_HEADER, lines)


def _block(header: str, lines: Sequence[str]) -> str:
    for line in lines:
        if not line.startswith("- ") or not line.endswith("\n"):
            raise ValueError(f"not a fact line, make it with ChatTemplate.line: {line!r}")
    return f"{header}{''.join(lines)}{CLOSING_LINE}"
