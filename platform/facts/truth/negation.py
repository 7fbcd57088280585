"""Whether a statement is denied, and what is left of it then."""

import re
from dataclasses import dataclass

from facts.truth.lexicon import word_list
from facts.truth.words import content, plain, same_word

DENIALS = frozenset(
    word_list("""not never nicht kein keine keinen keinem keiner nie pas jamais no nunca non mai não не""")
)
# They go with a denial, or stand where it would stand.
HELPERS = frozenset(word_list("""do does any anymore longer more ne n plus mehr ya più já mais больше"""))
PHRASES = (
    (r"\bany more\b", "anymore"),
    (r"\b(?:has |have )?(?:quit|stopped|gave up|given up)(?= \w+ing\b)", "not"),
    (r"\b(?:can not stand|hates?|detests?|dislikes?)\b", "not likes"),
    (r"\bfond of\b", "likes"),
    (r"\bne (\w+) plus\b", r"not \1"),
    (r"\bn'(\w+) plus\b", r"not \1"),
    (r"\bhasst\b", "nicht mag"),
    (r"\bdéteste\b", "not aime"),
)
LIKINGS = {"loves": "likes", "enjoys": "likes", "adores": "likes", "love": "like", "enjoy": "like", "adore": "like"}
LIKINGS |= {"liebt": "mag"}


@dataclass(frozen=True, slots=True)
class Statement:
    """`core`: its words without the denial."""

    denied: bool
    core: tuple[str, ...]

    def says_the_same_of(self, other: "Statement") -> bool:
        """Apart from the denial. The first word, the subject as a rule, has to be the very same."""
        if len(self.core) != len(other.core) or not self.core or self.core[0] != other.core[0]:
            return False
        return all(same_word(one, two) for one, two in zip(self.core, other.core, strict=True))


def statement(text: str) -> Statement:
    line = plain(text)
    for pattern, other in PHRASES:
        line = re.sub(pattern, other, line)
    found = content(line)
    denials = sum(word in DENIALS for word in found)
    core = [word for word in found if word not in DENIALS and not (denials and word in HELPERS)]
    if not denials:  # not to love something is not to dislike it
        core = [LIKINGS.get(word, word) for word in core]
    return Statement(denials % 2 == 1, tuple(core))
