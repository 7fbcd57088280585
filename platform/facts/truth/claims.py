"""Statements that give one subject's attribute its one value: "Ana lives in Berlin" is (ana, home, berlin)."""

import hashlib
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from facts.truth.lexicon import word_list
from facts.truth.words import content, plain

CLAIM_VERSION = 1  # to be raised with every change of what `claim_key` answers: stored keys are made anew then
S, V, N = r"(?P<s>.+?)", r"(?P<v>.+)", r"(?P<v>\d+|[a-z]+(?:-[a-z]+)?)"
NOW = r"(?:now |currently |still |just |recently |has |have |has just |has recently |is now )?"
# Nouns of which a person has one at a time.
SINGLE = (
    r"(?:(?:work|home|private) )?(?:email(?: address)?|phone(?: number)?|address)|birthday|date of birth"
    r"|age|height|weight|job|occupation|profession|employer|hometown|nationality|native language|mother tongue"
    r"|time ?zone|shoe size|blood type|marital status|boss|manager|husband|wife|spouse|salary|name|nickname"
    r"|favourite [\w ]+?|preferred [\w ]+?"
)
SYNONYMS = {"email address": "email", "phone number": "phone", "date of birth": "birthday", "timezone": "time zone"}
STATUS = {
    "single": r"single|ledig|célibataire|solter[oa]",
    "married": r"married|verheiratet|mariée?|casad[oa]",
    "engaged": r"engaged|verlobt|fiancée?|prometid[oa]",
    "divorced": r"divorced|geschieden|divorcée?|divorciad[oa]",
    "separated": r"separated|getrennt",
    "widowed": r"widowed|verwitwet|veuve?|viud[oa]",
}
ANY_STATUS = "|".join(STATUS.values())
DIETS = r"vegan|vegetarian|pescatarian|omnivore|flexitarian|vegetarisch|végétarienne?|végane?|vegetarian[oa]|vegan[oa]"
# attribute, pattern, whether the value must be a name. Whole sentences only, in `plain` spelling.
PATTERNS: tuple[tuple[str, str, bool], ...] = (
    ("home", rf"{S} {NOW}(?:lives?|is living|resides?|is based) in {V}", True),
    ("home", rf"{S} {NOW}(?:moved|relocated) (?:back )?(?:from .+? )?to {V}", True),
    ("home", rf"{S} (?:wohnt|lebt) (?:jetzt |nun |derzeit )?in {V}", True),
    ("home", rf"{S} ist (?:vor kurzem |kürzlich |jetzt )?nach {V} (?:um)?gezogen", True),
    ("home", rf"{S} zog nach {V}", True),
    ("home", rf"{S} (?:habite|vit|réside) (?:maintenant |désormais )?(?:à|en|au|aux) {V}", True),
    ("home", rf"{S} (?:a déménagé|s'est installée?) (?:à|en|au|aux) {V}", True),
    ("home", rf"{S} (?:vive|reside) (?:ahora |actualmente )?en {V}", True),
    ("home", rf"{S} se (?:mudó|ha mudado|trasladó|ha trasladado) a {V}", True),
    ("home", rf"{S} (?:vive|abita|risiede) (?:ora |adesso )?(?:a|in) {V}", True),
    ("home", rf"{S} si è trasferit[oa] (?:a|in) {V}", True),
    ("home", rf"{S} (?:mora|vive|reside) (?:agora )?(?:em|no|na) {V}", True),
    ("home", rf"{S} (?:mudou-se|se mudou) para (?:o |a )?{V}", True),
    ("home", rf"{S}(?:现在)?住在{V}", True),
    ("home", rf"{S}搬到了?{V}", True),
    ("home", rf"{S}は{V}に住んでいる", True),
    ("home", rf"{S}は{V}に引っ越した", True),
    ("employer", rf"{S} {NOW}(?:works?|is working|is employed) (?:at|for|by) {V}", True),
    ("employer", rf"{S} arbeitet (?:jetzt |nun |derzeit )?bei {V}", True),
    ("employer", rf"{S} travaille (?:maintenant |désormais )?chez {V}", True),
    ("employer", rf"{S} trabaja (?:ahora )?(?:en|para) {V}", True),
    ("employer", rf"{S} lavora (?:ora )?(?:per|presso) {V}", True),
    ("employer", rf"{S} trabalha (?:agora )?(?:na|no|para a|para o|para) {V}", True),
    ("job", rf"{S} {NOW}(?:works?|is working) as (?:an? |the )?{V}", False),
    ("job", rf"{S} arbeitet (?:jetzt )?als {V}", False),
    ("job", rf"{S} travaille (?:maintenant )?comme {V}", False),
    ("job", rf"{S} trabaja (?:ahora )?(?:como|de) {V}", False),
    ("age", rf"{S} (?:is|is now|has turned|turned) {N}(?: years old)?", False),
    ("age", rf"{S} ist (?:jetzt )?{N} jahre alt", False),
    ("age", rf"{S} a {N} ans", False),
    ("age", rf"{S} tiene {N} años", False),
    ("age", rf"{S} ha {N} anni", False),
    ("age", rf"{S} tem {N} anos", False),
    (
        "marital status",
        rf"{S} (?:is|is now|ist|ist jetzt|est|está) (?P<v>{ANY_STATUS})(?: (?:to|mit|avec|con) .+)?",
        False,
    ),
    ("marital status", rf"{S} (?:has |just )?got (?P<v>{ANY_STATUS})(?: to .+)?", False),
    ("diet", rf"{S} (?:is|is now|became|has become|ist|ist jetzt|est|es) (?:an? )?(?P<v>{DIETS})", False),
    ("birthday", rf"{S} was born on {V}", False),
    ("", rf"{S}'s (?:new |current )?(?P<a>{SINGLE}) (?:is|are)(?: now)? (?:on |the )?{V}", False),
    ("", rf"{S}s (?P<a>lieblings\w+) ist (?:jetzt )?(?:das |der |die )?{V}", False),
    ("", rf"(?:la|le|l') ?(?P<a>\w+ préférée?) (?:de |d'){S} est (?:le |la |l')?{V}", False),
    ("", rf"(?:el|la) (?P<a>\w+ favorit[oa]) de {S} es (?:el |la )?{V}", False),
    ("", rf"(?:il|la) (?P<a>\w+ preferit[oa]) di {S} è (?:il |la )?{V}", False),
)
RULES = tuple((attribute, re.compile(pattern), proper) for attribute, pattern, proper in PATTERNS)
PREFERENCE = re.compile(rf"{S} prefers {V} (?:over|to|rather than) (?P<o>.+)")
# A subject with one of these is not a subject: "Ana wants to" live in, "Ana does not" live in.
NO_SUBJECT = frozenset(
    word_list("""not never to would wants want may might will could should used plans hopes if when that who whose
    says said also nicht nie möchte will würde ne pas veut voudrait no nunca quiere quisiera non vuole não quer and or
    maybe perhaps probably sometimes often usually""")
)
# With one of these a value holds at times, or beside another.
AT_TIMES = re.compile(
    r"\b(?:sometimes|often|usually|weekends?|weekdays?|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|summers?|winters?|during|while|temporarily|and|or"
    r"|part-time|until|for now|except|und|oder|manchmal|et|ou|parfois|y|a veces|e)\b"
)
TAIL = re.compile(
    r",? (?:since|in|as of|from|on|around|seit|im|depuis|desde|dal|em|en) (?:[^\W\d_]+ )?(?:19|20)\d\d(?:-\d\d){0,2}$"
    r"|,? (?:last|this) (?:week|month|year|spring|summer|autumn|fall|winter)$|,? (?:recently|these days|now|for good)$"
)
LARGE = frozenset(
    word_list("""germany france spain italy portugal england scotland wales ireland britain uk usa us america
    canada mexico brazil
    argentina chile japan china india australia austria switzerland belgium netherlands holland denmark norway sweden
    finland poland greece turkey russia ukraine egypt kenya nigeria europe asia africa california texas florida bavaria
    deutschland frankreich spanien italien österreich schweiz bayern allemagne espagne italie suisse alemania francia
    españa italia suiza alemanha frança espanha brasil méxico japón""")
)


@dataclass(frozen=True, slots=True)
class Claim:
    """`at_times`: the value need not be the only one."""

    subject: str
    attribute: str
    value: tuple[str, ...]
    at_times: bool

    @property
    def is_large_place(self) -> bool:
        return self.attribute == "home" and self.value[-1] in LARGE and len(self.value) == 1


def claim_key(text: str) -> str:
    """The same for all facts that give one subject's attribute a value, '' for those that give none."""
    found = claim(text)
    return hashlib.sha256(f"{found.subject}\n{found.attribute}".encode()).hexdigest()[:32] if found else ""


@lru_cache(maxsize=4096)
def claim(text: str) -> Claim | None:
    line = plain(text)
    return next(_claims(line, text), None)


def _claims(line: str, text: str) -> Iterator[Claim]:
    for attribute, rule, proper in RULES:
        if (found := rule.fullmatch(line)) is None:
            continue
        subject, value = found["s"].strip(), TAIL.sub("", TAIL.sub("", found["v"])).strip(" ,")
        named = attribute or found["a"].strip()
        if not (NO_SUBJECT.isdisjoint(subject.split()) and content(value)) or (proper and not _is_name(value, text)):
            continue
        if named == "age" and not content(value)[0].isdigit():
            continue
        yield Claim(subject, SYNONYMS.get(named, named), _value(named, value), bool(AT_TIMES.search(value)))
    if found := PREFERENCE.fullmatch(line):
        pair = sorted((found["v"], found["o"]))
        yield Claim(found["s"], f"preferred of {pair}", content(found["v"]), False)


def _value(attribute: str, value: str) -> tuple[str, ...]:
    if attribute == "marital status":
        return (next(status for status, forms in STATUS.items() if re.fullmatch(forms, value)),)
    if attribute == "birthday":
        return tuple(sorted(content(value)))
    return content(value)


def _is_name(value: str, text: str) -> bool:
    """Written with a capital, in scripts that have any: one moves to Paris, but to a new team."""
    start = unicodedata.normalize("NFKC", text).casefold().find(value)
    first = unicodedata.normalize("NFKC", text)[start : start + 1]
    return start >= 0 and first.casefold() == value[0] and (first.isupper() or not first.islower())
