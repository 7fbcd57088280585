"""What a project, and a call where it says more, wants of the facts to be found."""

from collections.abc import Mapping, Sequence
from typing import Any

from tenants.models import Tenant
from tenants.selectors import project_settings

from facts.errors import InvalidInputError
from facts.inputs import ExtractionWishes
from facts.text import clean_categories

# Of projects that name none: those of Mem0's platform, which filters of existing applications name.
DEFAULT_CATEGORIES = {
    "personal_details": "name, age, home, origin, languages",
    "family": "relatives, partners, children, pets",
    "professional_details": "work, employer, studies, skills",
    "sports": "sports that are done or followed",
    "travel": "journeys and places",
    "food": "dishes, drinks, diets",
    "music": "instruments, bands, concerts",
    "health": "illness, medicine, fitness, sleep",
    "technology": "devices, software, programming",
    "hobbies": "what is done for pleasure",
    "fashion": "clothes and style",
    "entertainment": "films, series, books, games",
    "milestones": "what happens once: births, weddings, moves, exams",
    "user_preferences": "likes, dislikes, wishes for how to be treated",
    "misc": "what fits none of the others",
}


def extraction_wishes(
    *,
    tenant: Tenant,
    instructions: str = "",
    includes: str = "",
    excludes: str = "",
    categories: Sequence[Any] | None = None,
) -> ExtractionWishes:
    """The call's own, and the project's where it has none. `categories` are names, or objects of names and what is
    meant by them.
    """
    project = project_settings(tenant=tenant)
    return ExtractionWishes(
        instructions=instructions or project.custom_instructions,
        includes=includes,
        excludes=excludes,
        categories=named_categories(categories or project.custom_categories) or DEFAULT_CATEGORIES,
    )


def named_categories(given: Sequence[Any]) -> dict[str, str]:
    """What is meant by each name, '' where nothing is said; names that cannot be one are left out."""
    found = dict[str, str]()
    for entry in given:
        for name, meaning in entry.items() if isinstance(entry, Mapping) else [(entry, "")]:
            try:
                found |= dict.fromkeys(clean_categories([name]), str(meaning))
            except InvalidInputError:
                continue
    return found
