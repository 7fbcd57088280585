"""What a new fact is to a stored one."""

from collections import Counter
from enum import Enum

from facts.truth.claims import Claim, claim
from facts.truth.lexicon import word_list
from facts.truth.negation import statement
from facts.truth.words import content, dates, is_latin, is_number, names_in, plain

REORDERED_FROM = 0.85  # cosine: the same words in another order
UNSURE_FROM = 0.8
CLAIM_UNSURE_FROM = 0.6  # where one of them may set in words that no rule knows what the other sets
# Before a number: what is counted or measured is a state, of which the newer holds.
STATES = frozenset(word_list("have has owns weighs earns is hat besitzt wiegt a pèse tiene pesa ha tem"))
ABOUT = frozenset(word_list("about around exactly over nearly almost approximately etwa rund environ unos circa"))
# Who likes one thing may like another: a different object is another fact.
MANY = frozenset(
    word_list("""like likes love loves enjoy enjoys hate hates dislike dislikes know knows speak speaks visit visits
    visited play
    plays own owns have has had read reads ate eat eats bought watch watches studies wants want plan plans collects
    mag hat liebt spricht spielt kennt isst aime a parle joue mange gusta habla tiene come ama ha parla gosta tem fala
    allergic""")
)


class Relation(Enum):
    """Of the new fact to the stored one. `REFINES`: it says the same and more."""

    SAME = "same"
    REFINES = "refines"
    CONTRADICTS = "contradicts"
    DIFFERENT = "different"
    UNSURE = "unsure"


def across_runs(relation: Relation) -> Relation:
    """Of facts that were found in two runs of one owner. What is true of somebody is so in every run, so that only the
    newer of two contradicting facts holds; what was said in both, each run keeps.
    """
    return relation if relation is Relation.CONTRADICTS else Relation.DIFFERENT


def compare(stored: str, new: str, cosine: float | None) -> Relation:
    """Never a guess: UNSURE where words alone do not say. `cosine` of their vectors, None without."""
    near = -1.0 if cosine is None else cosine
    old_words, new_words = content(plain(stored)), content(plain(new))
    if old_words == new_words:
        return Relation.SAME
    if dates(stored) and dates(new) and dates(stored) != dates(new):
        return Relation.DIFFERENT
    old_claim, new_claim = claim(stored), claim(new)
    if old_claim and new_claim:
        return _by_claims(old_claim, new_claim, near)
    said, says = statement(stored), statement(new)
    if said.says_the_same_of(says):
        return Relation.SAME if said.denied == says.denied else Relation.CONTRADICTS
    if near >= REORDERED_FROM and _is_reordered(stored, new):
        return Relation.SAME
    if (by_numbers := _by_numbers(old_words, new_words)) is not None:
        return by_numbers
    if said.denied == says.denied and _names_another_object(said.core, says.core):
        return Relation.DIFFERENT
    threshold = UNSURE_FROM if not (old_claim or new_claim) and is_latin(stored) else CLAIM_UNSURE_FROM
    return Relation.UNSURE if near >= threshold else Relation.DIFFERENT


def _by_claims(old: Claim, new: Claim, near: float) -> Relation:
    if old.attribute != new.attribute:
        return Relation.DIFFERENT
    if old.subject != new.subject:
        is_same_person = "user" in (old.subject, new.subject) and near >= CLAIM_UNSURE_FROM
        return Relation.UNSURE if is_same_person else Relation.DIFFERENT
    if old.value == new.value:
        return Relation.SAME
    if old.at_times or new.at_times or old.is_large_place != new.is_large_place:
        return Relation.UNSURE
    if _begins_with(new.value, old.value):
        return Relation.REFINES
    return Relation.SAME if _begins_with(old.value, new.value) else Relation.CONTRADICTS


def _begins_with(long: tuple[str, ...], short: tuple[str, ...]) -> bool:
    return long[: len(short)] == short


def _is_reordered(stored: str, new: str) -> bool:
    """The same words, and names and numbers in the same order: who loves whom is not in question."""
    old_words, new_words, names = content(plain(stored)), content(plain(new)), names_in(stored, new)

    def in_order(words: tuple[str, ...]) -> list[str]:
        return [word for word in words if word in names or word[0].isdigit()]

    return Counter(old_words) == Counter(new_words) and in_order(old_words) == in_order(new_words)


def _by_numbers(old: tuple[str, ...], new: tuple[str, ...]) -> Relation | None:
    """For statements that differ in numbers alone."""
    if len(old) != len(new):
        return None
    differing = [i for i, (one, other) in enumerate(zip(old, new, strict=True)) if one != other]
    if not all(is_number(old[i]) and is_number(new[i]) for i in differing):
        return None
    place = differing[0] - 1 if old[differing[0] - 1] not in ABOUT else differing[0] - 2
    is_state = len(differing) == 1 and place > 0 and old[place] in STATES
    return Relation.CONTRADICTS if is_state else Relation.UNSURE


def _names_another_object(old: tuple[str, ...], new: tuple[str, ...]) -> bool:
    """Alike up to a verb that takes many objects, different in the very next word."""
    shared = next((i for i, (one, other) in enumerate(zip(old, new, strict=False)) if one != other), None)
    return shared is not None and shared >= 2 and not MANY.isdisjoint(old[1:shared])
