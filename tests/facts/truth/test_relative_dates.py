"""Days are counted from the day on which they were said."""

from datetime import date

import pytest
from facts.truth import resolve_dates

WEDNESDAY = date(2026, 3, 4)


@pytest.mark.parametrize(
    ("said", "resolved"),
    [
        ("Ana saw a doctor yesterday.", "Ana saw a doctor on 2026-03-03."),
        ("Yesterday Ana saw a doctor.", "On 2026-03-03 Ana saw a doctor."),
        ("Ana has been ill since yesterday.", "Ana has been ill since 2026-03-03."),
        ("The user flies to Rome the day after tomorrow.", "The user flies to Rome on 2026-03-06."),
        ("Tom quit his job two weeks ago.", "Tom quit his job on 2026-02-18."),
        ("Tom moved to Oslo last month.", "Tom moved to Oslo in 2026-02."),
        ("Tom married Eve last year.", "Tom married Eve in 2025."),
        ("Tom was in Lyon last week.", "Tom was in Lyon in the week of 2026-02-23."),
        ("Tom came home last Saturday.", "Tom came home on 2026-02-28."),
        ("Tom came home last Wednesday.", "Tom came home on 2026-02-25."),
        ("Eve has an exam in 3 days.", "Eve has an exam on 2026-03-07."),
        ("Eve has an exam in three months.", "Eve has an exam in 2026-06."),
        ("Ana war gestern beim Arzt.", "Ana war am 2026-03-03 beim Arzt."),
        ("Ana ist vor zwei Wochen nach Bonn gezogen.", "Ana ist am 2026-02-18 nach Bonn gezogen."),
        ("Ana fährt morgen nach Bonn.", "Ana fährt am 2026-03-05 nach Bonn."),
        ("Ana läuft jeden Morgen und trinkt am Morgen Tee.", "Ana läuft jeden Morgen und trinkt am Morgen Tee."),
        ("Léa est allée à Nice hier.", "Léa est allée à Nice le 2026-03-03."),
        ("Léa a acheté une maison le mois dernier.", "Léa a acheté une maison en 2026-02."),
        ("Luis se mudó a Sevilla hace tres días.", "Luis se mudó a Sevilla el 2026-03-01."),
        ("Luis corre por la mañana en el parque.", "Luis corre por la mañana en el parque."),
        ("Tom ist hier in der Stadt.", "Tom ist hier in der Stadt."),
        ("Ana has a yesterday-shaped lamp.", "Ana has a yesterday-shaped lamp."),
        ("Ana lived here some days ago.", "Ana lived here some days ago."),
        ("太郎は昨日東京にいた。", "太郎は昨日東京にいた。"),
    ],
)
def test_days_become_dates(said: str, resolved: str) -> None:
    assert resolve_dates(said, WEDNESDAY) == resolved


def test_a_month_before_january_is_in_the_year_before() -> None:
    assert resolve_dates("Tom was ill last month.", date(2026, 1, 31)) == "Tom was ill in 2025-12."


def test_the_calendars_end_is_no_error() -> None:
    assert resolve_dates("Tom was ill 999 years ago.", date(900, 1, 1)) == "Tom was ill 999 years ago."
