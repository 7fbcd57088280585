"""Whether a fact was said at all, and in which turn."""

from collections.abc import Sequence

from facts.truth.words import content, plain, same_word


def says_something(text: str) -> bool:
    """Whether there is a word or number in it."""
    return any(character.isalnum() for character in text)


def source_of(fact: str, turns: Sequence[str], *, claimed: int | None = None) -> int | None:
    """Index of the turn that shares most words with it, `claimed` among equals; None when no turn shares any."""
    wanted = content(plain(fact))
    shares = [_shared(wanted, content(plain(turn))) for turn in turns]
    best = max(shares, default=0)
    if best == 0:
        return None
    if claimed is not None and 0 <= claimed < len(turns) and shares[claimed] == best:
        return claimed
    return shares.index(best)


def _shared(wanted: Sequence[str], said: Sequence[str]) -> int:
    known = set(said)
    return sum(word in known or any(same_word(word, other) for other in known) for word in set(wanted) - {"user"})
