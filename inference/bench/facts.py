"""Facts to measure with: about 30 tokens each, all different, nobody's."""

from collections.abc import Iterator

PLACES = ("harbour", "station", "library", "market", "bridge", "old mill", "museum", "park", "school", "theatre")
THINGS = ("a brass lamp", "a blue bicycle", "three jars of honey", "an atlas", "a chess set", "a wool coat", "a kettle")
PEOPLE = ("Ina", "Joss", "Mika", "Orla", "Pim", "Rhea", "Tove", "Ugo", "Vera", "Wim", "Xenia")
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
QUESTIONS = [
    "What did Ina buy near the harbour?",
    "Who was seen at the library on a Friday?",
    "Where did Tove find the chess set?",
    "What happened at the old mill?",
    "Who paid for the atlas?",
    "Which day did Ugo go to the market?",
]


def bench_facts(count: int) -> Iterator[str]:
    for i in range(count):
        person, thing, place, day = (words[i % len(words)] for words in (PEOPLE, THINGS, PLACES, DAYS))
        paid = f"and paid {10 + i} coins for it in cash"
        yield f"On {day}, in week {i + 1}, {person} bought {thing} near the {place} {paid}."
