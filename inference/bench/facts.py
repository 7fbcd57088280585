"""Facts and questions to measure with: about 30 tokens a fact, all different, nobody's."""

import random
from collections.abc import Iterator

PLACES = ("harbour", "station", "library", "market", "bridge", "old mill", "museum", "park", "school", "theatre")
THINGS = ("a brass lamp", "a blue bicycle", "three jars of honey", "an atlas", "a chess set", "a wool coat", "a kettle")
PEOPLE = ("Ina", "Joss", "Mika", "Orla", "Pim", "Rhea", "Tove", "Ugo", "Vera", "Wim", "Xenia")
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
LAST_WEEK = 999_999


def bench_facts(count: int, start: int = 0) -> Iterator[str]:
    """Facts number `start` to `start + count - 1`."""
    for i in range(start, start + count):
        person, thing, place, day = (words[i % len(words)] for words in (PEOPLE, THINGS, PLACES, DAYS))
        paid = f"and paid {10 + i} coins for it in cash"
        yield f"On {day}, in week {i + 1}, {person} bought {thing} near the {place} {paid}."


def bench_questions(seed: object) -> Iterator[str]:
    """Without end, and different from the first words on: no question finds an earlier one in the prefix cache."""
    rng = random.Random(str(seed))
    while True:
        person, thing, place, day = (rng.choice(words) for words in (PEOPLE, THINGS, PLACES, DAYS))
        week = rng.randint(1, LAST_WEEK)
        yield f"{week} weeks on, what did {person} buy near the {place} on a {day}, or was it {thing}?"
