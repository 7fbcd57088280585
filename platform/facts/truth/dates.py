"""Days that a text names from where its speaker stands, turned into dates."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache
from typing import Literal

from facts.truth.lexicon import word_list

Unit = Literal["day", "week", "month", "year"]
COUNT = r"(?P<count>\d{1,3}|[a-zäöüéñ]{1,7})"


@dataclass(frozen=True, slots=True)
class Language:
    """`marks`: words that show a text to be of this language. `phrases`: a pattern, its unit, and how many units away.

    An offset of None is read from the pattern's group, `sign` times. `before`: prepositions that need no other one.
    """

    marks: frozenset[str]
    on: dict[Unit, str]
    before: str
    phrases: tuple[tuple[str, Unit, int | None, int], ...]
    counts: dict[str, int]


def _counts(words: str) -> dict[str, int]:
    return {word: number for number, form in enumerate(words.split(), 1) for word in form.split("/")}


LANGUAGES: dict[str, Language] = {
    "en": Language(
        frozenset(word_list("the a an is are was to of and in at user has have he she his her for with will")),
        {"day": "on {}", "week": "in the week of {}", "month": "in {}", "year": "in {}"},
        "since|until|from|by|before|after|on",
        (
            (r"the day before yesterday", "day", -2, 1),
            (r"yesterday", "day", -1, 1),
            (r"today|tonight|this (?:morning|afternoon|evening)", "day", 0, 1),
            (r"the day after tomorrow", "day", 2, 1),
            (r"tomorrow", "day", 1, 1),
            *((rf"{COUNT} {unit}s? ago", unit, None, -1) for unit in ("day", "week", "month", "year")),
            *((rf"in {COUNT} {unit}s?", unit, None, 1) for unit in ("day", "week", "month", "year")),
            *((rf"last {unit}", unit, -1, 1) for unit in ("week", "month", "year")),
            *((rf"next {unit}", unit, 1, 1) for unit in ("week", "month", "year")),
        ),
        _counts("a/an/one two three four five six seven eight nine ten"),
    ),
    "de": Language(
        frozenset(word_list("der die das ist hat und ein eine einen nach mit war wird sich im am den für bei")),
        {"day": "am {}", "week": "in der Woche vom {}", "month": "in {}", "year": "im Jahr {}"},
        "seit|bis|ab|am",
        (
            (r"vorgestern", "day", -2, 1),
            (r"gestern", "day", -1, 1),
            (r"heute", "day", 0, 1),
            (r"übermorgen", "day", 2, 1),
            (r"(?<!am )(?<!guten )(?<!jeden )(?<!heute )(?-i:morgen)", "day", 1, 1),
            (rf"vor {COUNT} tage?n?", "day", None, -1),
            (rf"vor {COUNT} wochen?", "week", None, -1),
            (rf"vor {COUNT} monate?n?", "month", None, -1),
            (rf"vor {COUNT} jahre?n?", "year", None, -1),
            (rf"in {COUNT} tage?n?", "day", None, 1),
            (rf"in {COUNT} wochen?", "week", None, 1),
            (r"(?:in der )?(?:letzte|vorige)n? woche", "week", -1, 1),
            (r"(?:im )?(?:letzten|vorigen) monat", "month", -1, 1),
            (r"(?:im )?(?:letzte[sn]|vorige[sn]) jahr", "year", -1, 1),
            (r"(?:in der )?nächsten? woche", "week", 1, 1),
            (r"(?:im )?nächsten monat", "month", 1, 1),
            (r"(?:im )?nächste[sn] jahr", "year", 1, 1),
        ),
        _counts("einem/einer zwei drei vier fünf sechs sieben acht neun zehn"),
    ),
    "fr": Language(
        frozenset(word_list("le la les est a et un une des du de à avec elle il pour chez va son sa")),
        {"day": "le {}", "week": "dans la semaine du {}", "month": "en {}", "year": "en {}"},
        "depuis|jusqu'à|le",
        (
            (r"avant-hier", "day", -2, 1),
            (r"hier", "day", -1, 1),
            (r"aujourd'hui", "day", 0, 1),
            (r"après-demain", "day", 2, 1),
            (r"demain", "day", 1, 1),
            (rf"il y a {COUNT} jours?", "day", None, -1),
            (rf"il y a {COUNT} semaines?", "week", None, -1),
            (rf"il y a {COUNT} mois", "month", None, -1),
            (rf"il y a {COUNT} ans?", "year", None, -1),
            (rf"dans {COUNT} jours?", "day", None, 1),
            (rf"dans {COUNT} semaines?", "week", None, 1),
            (r"la semaine dernière", "week", -1, 1),
            (r"le mois dernier", "month", -1, 1),
            (r"(?:l'année dernière|l'an dernier)", "year", -1, 1),
            (r"la semaine prochaine", "week", 1, 1),
            (r"le mois prochain", "month", 1, 1),
            (r"(?:l'année prochaine|l'an prochain)", "year", 1, 1),
        ),
        _counts("un/une deux trois quatre cinq six sept huit neuf dix"),
    ),
    "es": Language(
        frozenset(word_list("el la los las es y un una de en con su para se que está ha del al")),
        {"day": "el {}", "week": "en la semana del {}", "month": "en {}", "year": "en {}"},
        "desde|hasta|el",
        (
            (r"anteayer", "day", -2, 1),
            (r"ayer", "day", -1, 1),
            (r"hoy", "day", 0, 1),
            (r"pasado mañana", "day", 2, 1),
            (r"(?<!la )(?<!esta )mañana", "day", 1, 1),
            (rf"hace {COUNT} días?", "day", None, -1),
            (rf"hace {COUNT} semanas?", "week", None, -1),
            (rf"hace {COUNT} mes(?:es)?", "month", None, -1),
            (rf"hace {COUNT} años?", "year", None, -1),
            (rf"(?:dentro de|en) {COUNT} días?", "day", None, 1),
            (rf"(?:dentro de|en) {COUNT} semanas?", "week", None, 1),
            (r"la semana pasada", "week", -1, 1),
            (r"el mes pasado", "month", -1, 1),
            (r"el año pasado", "year", -1, 1),
            (r"la (?:próxima semana|semana que viene)", "week", 1, 1),
            (r"el (?:próximo mes|mes que viene)", "month", 1, 1),
            (r"el (?:próximo año|año que viene)", "year", 1, 1),
        ),
        _counts("un/una dos tres cuatro cinco seis siete ocho nueve diez"),
    ),
}
ENGLISH_DAYS = word_list("monday tuesday wednesday thursday friday saturday sunday")
LAST_WEEKDAY = rf"last (?P<count>{'|'.join(ENGLISH_DAYS)})"


def resolve_dates(text: str, said_on: date) -> str:
    """The text with "yesterday", "last week", "vor zwei Tagen" as dates counted from `said_on`.

    In the language that most of the text's words speak for, of those known; what no rule knows stays as it is.
    """
    name = _language_of(text)
    if name is None:
        return text
    language = LANGUAGES[name]
    for pattern, unit, offset, sign in language.phrases:
        text = _replace(text, language, pattern, _shifter(language, unit, offset, sign), said_on)
    if name == "en":
        text = _replace(text, language, LAST_WEEKDAY, _last_weekday, said_on)
    return text


Shift = Callable[[re.Match[str], date], tuple[Unit, date] | None]


def _shifter(language: Language, unit: Unit, offset: int | None, sign: int) -> Shift:
    def shift(found: re.Match[str], day: date) -> tuple[Unit, date] | None:
        count = offset
        if count is None:
            word = found["count"].casefold()
            count = int(word) if word.isdigit() else language.counts.get(word)
            if count is None:
                return None
            if unit == "week":  # so and so many weeks from that very day
                return _shifted("day", day, 7 * sign * count)
        return _shifted(unit, day, sign * count)

    return shift


def _last_weekday(found: re.Match[str], day: date) -> tuple[Unit, date]:
    back = (day.weekday() - ENGLISH_DAYS.index(found["count"].casefold()) - 1) % 7 + 1
    return "day", day - timedelta(days=back)


def _shifted(unit: Unit, day: date, count: int) -> tuple[Unit, date] | None:
    try:
        if unit == "day":
            return unit, day + timedelta(days=count)
        if unit == "week":
            return unit, day - timedelta(days=day.weekday()) + timedelta(weeks=count)
        months = day.year * 12 + day.month - 1 + count * (12 if unit == "year" else 1)
        return unit, date(months // 12, months % 12 + 1, 1)
    except (ValueError, OverflowError):
        return None


def _replace(text: str, language: Language, pattern: str, shift: Shift, day: date) -> str:
    def written(found: re.Match[str]) -> str:
        shifted = shift(found, day)
        if shifted is None:
            return found[0]
        unit, start = shifted
        shown = start.isoformat()[: {"day": 10, "week": 10, "month": 7, "year": 4}[unit]]
        if found["before"]:
            return found["before"] + shown
        phrase = language.on[unit].format(shown)
        return phrase[0].upper() + phrase[1:] if found.start() == 0 else phrase

    return _rule(language.before, pattern).sub(written, text)


@lru_cache(maxsize=256)
def _rule(before: str, phrase: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w-])(?P<before>(?:{before}) )?(?:{phrase})(?![\w-])", re.IGNORECASE)


def _language_of(text: str) -> str | None:
    words = re.findall(r"[^\W\d_]+", text.casefold())
    votes = {
        name: sum(word in language.marks for word in words)
        + any(_rule(language.before, pattern).search(text) for pattern, *_ in language.phrases)
        for name, language in LANGUAGES.items()
    }
    best = max(votes.values())
    leading = [name for name, count in votes.items() if count == best]
    return leading[0] if best or text.isascii() else None
