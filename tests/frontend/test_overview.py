"""The overview's figures, periods and table are those of the records."""

import csv
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone
from facts.services import encoding_mark_failed, encoding_start
from tenants.models import Tenant
from usage.rollup import roll_up
from usage.services import RequestRecordData, request_records_write

from frontend.periods import CHOICES, Period
from tests.factories import FINGERPRINT, STRATEGY, People, add_facts, encode_fact
from tests.frontend.conftest import Clients, queries
from tests.workers.troubled_engine import free_port

NOW = datetime(2026, 11, 30, 12, 34, 56, tzinfo=UTC)


def overview(people: People) -> str:
    return reverse("dashboard:overview", args=[people.tenant.slug])


def chats(tenant: Tenant, mode: str, count: int, *, ttft: float = 100.0, status: int = 200, minutes: int = 5) -> None:
    data = RequestRecordData(
        tenant_id=tenant.pk,
        mode=mode,
        status=status,
        ttft_ms=ttft,
        prompt_tokens=1000,
        tokens_injected_planned=900 if mode == "inject" else 0,
        created_at=timezone.now() - timedelta(minutes=minutes),
    )
    request_records_write([data] * count)


def test_the_figures_are_the_tenants_own(people: People, clients: Clients) -> None:
    chats(people.tenant, "prompt", 10, ttft=600.0)
    chats(people.tenant, "inject", 30, ttft=100.0)
    chats(people.tenant, "none", 2, status=500)
    chats(people.other_tenant, "inject", 500)
    answer = clients.viewer.get(overview(people))
    seen = answer.context
    assert (seen["total"].requests, seen["total"].failed) == (42, 2)
    assert seen["traffic"].multiple == pytest.approx(6.0, rel=0.04)
    assert seen["total"].injected_share == pytest.approx(30 * 900 / 42_000)
    assert "6.0×" in answer.content.decode() or "6.1×" in answer.content.decode()


def test_staff_see_all_tenants_together(people: People, clients: Clients) -> None:
    chats(people.tenant, "inject", 3)
    chats(people.other_tenant, "prompt", 4)
    assert clients.staff.get(reverse("dashboard:platform")).context["total"].requests == 7


def test_rolled_up_figures_are_the_same(people: People, clients: Clients) -> None:
    chats(people.tenant, "inject", 8, minutes=30)
    before = clients.viewer.get(overview(people)).context["total"].requests
    roll_up(now=timezone.now())
    assert (before, clients.viewer.get(overview(people)).context["total"].requests) == (8, 8)


def test_memory_is_counted_by_how_far_its_encoding_is(tenant: Tenant, people: People, clients: Clients) -> None:
    one, two, _ = add_facts(tenant, "Likes tea.", "Keeps bees.", "Lives in Bonn.")
    encode_fact(one)
    failed = encoding_start(fact_or_owner=two, fingerprint=FINGERPRINT, strategy=STRATEGY)
    encoding_mark_failed(encoding=failed, error="too long")
    memory = clients.viewer.get(overview(people)).context["memory"]
    assert (memory.facts, memory.owners, memory.ready, memory.waiting, memory.failed) == (3, 1, 1, 1, 1)
    assert memory.bytes == 4096


def test_an_empty_tenant_is_told_what_to_do(people: People, clients: Clients) -> None:
    page = clients.viewer.get(overview(people)).content.decode()
    assert reverse("dashboard:connect", args=[people.tenant.slug]) in page
    assert "No request in this period." in page


@pytest.mark.parametrize("period", [*CHOICES, "custom&from=2026-01-01T00:00&to=2026-02-01T00:00"])
def test_every_period_can_be_linked_to(people: People, clients: Clients, period: str) -> None:
    chats(people.tenant, "inject", 2)
    for name in ("overview", "overview-csv"):
        path = reverse(f"dashboard:{name}", args=[people.tenant.slug])
        assert clients.viewer.get(f"{path}?period={period}").status_code == 200


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ({"period": "2w"}, "choose one of"),
        ({"period": "custom"}, "needs a beginning"),
        ({"period": "custom", "from": "2026-02-30T25:00"}, "needs a beginning"),
        ({"period": "custom", "from": "2026-03-02T00:00", "to": "2026-03-01T00:00"}, "ends before"),
        ({"period": "custom", "from": "2020-01-01T00:00", "to": "2026-01-01T00:00"}, "at most 366 days"),
    ],
)
def test_a_period_that_is_none_is_told(query: dict[str, str], said: str, people: People, clients: Clients) -> None:
    answer = clients.viewer.get(overview(people), query)
    assert (answer.status_code, answer.context["period"].name) == (200, "24h")
    assert said in answer.content.decode()


@pytest.mark.parametrize("name", CHOICES)
def test_a_chart_has_a_readable_number_of_points(name: str) -> None:
    period = Period.parse({"period": name}, now=NOW)
    assert 45 <= (period.until - period.since) / period.step <= 90


def test_a_custom_period_survives_its_own_link() -> None:
    given = {"period": "custom", "from": "2026-11-01T08:00", "to": "2026-11-02T09:30"}
    period = Period.parse(given, now=NOW)
    assert (period.since, period.until) == (
        datetime(2026, 11, 1, 8, tzinfo=UTC),
        datetime(2026, 11, 2, 9, 30, tzinfo=UTC),
    )
    assert Period.parse(dict(part.replace("%3A", ":").split("=") for part in period.query.split("&"))) == period


def test_the_csv_adds_up_to_the_page(people: People, clients: Clients) -> None:
    chats(people.tenant, "inject", 7, ttft=100.0)
    chats(people.tenant, "prompt", 2, ttft=700.0)
    answer = clients.viewer.get(reverse("dashboard:overview-csv", args=[people.tenant.slug]), {"period": "1h"})
    rows = list(csv.DictReader(answer.content.decode().splitlines()))
    assert sum(int(row["requests"]) for row in rows) == 9
    (prompt,) = (row for row in rows if row["mode"] == "prompt" and row["requests"] != "0")
    assert float(prompt["ttft_p50_ms"]) == pytest.approx(700, rel=0.021)
    assert "attachment" in answer["content-disposition"]


def test_htmx_gets_the_main_part_alone(people: People, clients: Clients) -> None:
    page, part = (clients.viewer.get(overview(people), headers=headers) for headers in ({}, {"HX-Request": "true"}))
    assert (b"<html" in page.content, b"<html" in part.content) == (True, False)
    assert b'id="live"' in part.content


def test_an_engine_that_is_away_is_told_with_what_to_do(people: People, clients: Clients, settings: Any) -> None:
    settings.ENV = settings.ENV.model_copy(update={"engine_url": f"http://127.0.0.1:{free_port()}"})
    page = clients.viewer.get(reverse("dashboard:overview-engine", args=[people.tenant.slug])).content.decode()
    assert "The engine cannot be asked" in page
    assert "Facts can be stored and found meanwhile" in page


def test_the_overview_asks_the_same_few_questions_whatever_there_is(
    tenant: Tenant, people: People, clients: Clients
) -> None:
    before = queries(clients.viewer, overview(people))
    add_facts(tenant, *(f"Fact {i}." for i in range(20)))
    chats(people.tenant, "inject", 50)
    assert queries(clients.viewer, overview(people)) == before <= 12
