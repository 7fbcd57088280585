"""How long the dashboard's pages take, with much to show: over HTTP, pages taking turns, as somebody of the staff."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from time import perf_counter

import httpx
from django.conf import settings
from django.contrib.auth.models import User
from django.urls import reverse
from tenants.logins import session_begin

from inference.bench.errors import BenchError
from inference.bench.pages_data import Filled
from inference.bench.results import Row, rounded

TIMEOUT = 600
OF_A_TENANT = {
    "overview": ("", "?period=90d"),
    "facts": ("", "?q=lamp", "?page=100"),
    "users": ("",),
    "requests": ("", "?mode=inject"),
    "kv": ("", "?period=90d"),
    "jobs": ("",),
    "playground": ("",),
    "recall": ("",),
    "keys": ("",),
    "members": ("",),
    "settings": ("",),
    "audit": ("",),
}
OF_THE_PLATFORM = {"platform": ("", "?period=90d"), "platform-kv": ("",), "tenants": ("",)}


@dataclass(frozen=True)
class Page:
    name: str
    path: str


def pages_of(there: Filled) -> list[Page]:
    """Every page that lists or sums up something, and one fact's and one user's."""
    slug = there.tenant.slug
    found = [
        Page(name + query, reverse(f"dashboard:{name}", args=[slug]) + query)
        for name, queries in OF_A_TENANT.items()
        for query in queries
    ]
    found += [
        Page(name + query, reverse(f"dashboard:{name}") + query)
        for name, queries in OF_THE_PLATFORM.items()
        for query in queries
    ]
    found.append(Page("one fact", reverse("dashboard:fact", args=[slug, there.fact_id])))
    found.append(Page("one user", reverse("dashboard:user", args=[slug, there.owner_id])))
    return found


def staff_client(url: str, user: User) -> httpx.Client:
    """Logged in as the user."""
    session = session_begin(user, lasts=timedelta(hours=6))
    cookies = {settings.SESSION_COOKIE_NAME: str(session.session_key)}
    return httpx.Client(base_url=url, cookies=cookies, timeout=TIMEOUT)


def measure_pages(http: httpx.Client, pages: Sequence[Page], *, rounds: int) -> Iterator[Mapping[str, list[float]]]:
    """All times so far by page, in ms, after each round but the first, which is not counted.

    Raises BenchError when a page does not come, httpx.HTTPError.
    """
    taken: dict[str, list[float]] = {page.name: [] for page in pages}
    for number in range(rounds + 1):
        for page in pages:
            started = perf_counter()
            answer = http.get(page.path)
            took = 1000 * (perf_counter() - started)
            if answer.status_code != httpx.codes.OK:
                raise BenchError(f"{page.path} answers {answer.status_code}")
            if number:
                taken[page.name].append(took)
        if number:
            yield taken


def page_rows(taken: Mapping[str, list[float]], common: Row) -> list[Row]:
    return [
        {**common, "kind": "pages", "transport": "http", "mode": page, "samples_ms": rounded(samples)}
        for page, samples in taken.items()
    ]
