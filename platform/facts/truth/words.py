"""A fact's words, in the form in which rules compare them."""

import re
import unicodedata
from functools import lru_cache

from facts.truth.lexicon import word_list

WORD = re.compile(
    r"\d{4}-\d\d-\d\d|\d+(?:[.,:]\d+)*|[\u3040-\u30ff\u3400-\u9fff]|[^\W\d_]+(?:[-@.][^\W\d_]+|\d+)*", re.UNICODE
)
DATE = re.compile(r"\d{4}-\d\d-\d\d")
# Words that carry nothing which two statements could differ in, in the languages that rules know.
FILLERS = frozenset(
    word_list("""a an the now currently just really very still these days
    der die das den dem ein eine einen einem einer jetzt derzeit nun
    le la les l un une des du de d maintenant désormais actuellement
    el los las una ahora actualmente del
    il lo gli uno ora adesso
    o os as um uma agora""")
)
CONTRACTIONS = (
    (r"\bcan(?:'t|not)\b", "can not"),
    (r"\bwon't\b", "will not"),
    (r"n't\b", " not"),
    (r"\b(i)'m\b", "i am"),
    (r"\b(he|she|it|who|that)'s\b", r"\1 is"),
    (r"\b(\w+)'re\b", r"\1 are"),
    (r"\b(\w+)'ve\b", r"\1 have"),
)
SPELLINGS = (
    (r"\bfavorite", "favourite"),
    (r"\bcolor\b", "colour"),
    (r"\bneighbor", "neighbour"),
    (r"\bnamed\b", "called"),
)
FIRST_PERSON = (
    (r"^(?:the )?user\b", "user"),
    (r"^(?:i am|i'm)\b", "user is"),
    (r"^i\b", "user"),
    (r"\bmy\b", "user's"),
)
ONES = word_list("""zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
sixteen seventeen eighteen nineteen""")
TENS = word_list("twenty thirty forty fifty sixty seventy eighty ninety")
NUMBERS = {word: value for value, word in enumerate(ONES)} | {word: 20 + 10 * i for i, word in enumerate(TENS)}
NUMBERS |= {f"{ten}-{one}": NUMBERS[ten] + NUMBERS[one] for ten in TENS for one in ONES[1:10]}
ENDINGS = frozenset(("", "s", "es", "e", "ing", "y", "ies", "en", "t"))
IRREGULAR = {"has": "have", "is": "be", "am": "be", "are": "be", "goes": "go", "does": "do"}


@lru_cache(maxsize=4096)
def plain(text: str) -> str:
    """One spelling of the same sentence: no case, no contractions, no closing punctuation, the user in third person."""
    line = unicodedata.normalize("NFKC", text).casefold().replace("’", "'").strip(' .!?。！"“”„')
    for pattern, whole in (*CONTRACTIONS, *FIRST_PERSON, *SPELLINGS):
        line = re.sub(pattern, whole, line)
    return line


@lru_cache(maxsize=4096)
def words(line: str) -> tuple[str, ...]:
    """All words of a `plain` line, number words as digits, ordinals as numbers."""
    spaced = re.sub(r"\b(\d+)(?:st|nd|rd|th)\b", r"\1", line).replace("'s", " 's")
    return tuple(str(NUMBERS[word]) if word in NUMBERS else word for word in WORD.findall(spaced))


def content(line: str) -> tuple[str, ...]:
    return tuple(word for word in words(line) if word not in FILLERS)


def is_number(word: str) -> bool:
    return word[0].isdigit() and not DATE.fullmatch(word)


def is_latin(text: str) -> bool:
    """Written in the letters of the languages that rules know."""
    return all(unicodedata.name(character, "").startswith("LATIN") for character in text if character.isalpha())


def dates(line: str) -> frozenset[str]:
    return frozenset(DATE.findall(line))


def names_in(*texts: str) -> frozenset[str]:
    """Words written with a capital inside a sentence of any of the texts."""
    inside = (re.findall(r"(?<=[\w,;:] )([^\W\d_a-z][^\W\d_]*)", text) for text in texts)
    return frozenset(word.casefold() for found in inside for word in found if word[0].isupper())


def same_word(one: str, other: str) -> bool:
    """Whether they are forms of one word that differ in person or number, or one is the -ing form."""
    one, other = IRREGULAR.get(one, one), IRREGULAR.get(other, other)
    if one == other:
        return True
    if min(len(one), len(other)) < 3 or not (one.isalpha() and other.isalpha()):
        return False
    shared = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    return shared >= 3 and {one[shared:], other[shared:]} <= ENDINGS
