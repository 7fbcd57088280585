"""Writes between `<!-- bench:NAME -->` and `<!-- /bench:NAME -->` of a Markdown file."""

import re
from collections.abc import Mapping

from inference.bench.errors import BenchError


def with_sections(text: str, sections: Mapping[str, str]) -> str:
    """The text with the sections' content between their markers; other markers keep theirs.

    Raises BenchError naming a section without markers.
    """
    for name, content in sections.items():
        pattern = re.compile(rf"(<!-- bench:{re.escape(name)} -->).*?(<!-- /bench:{re.escape(name)} -->)", re.DOTALL)
        if not pattern.search(text):
            raise BenchError(f"there is no <!-- bench:{name} --> with its <!-- /bench:{name} --> to write between")
        text = pattern.sub(lambda found, content=content: f"{found[1]}\n{content}\n{found[2]}", text)  # type: ignore[misc]
    return text
