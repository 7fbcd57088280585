"""Calls of the memory API are timed over HTTP, and what was added has to be found."""

import pytest
from pytest_django.live_server_helper import LiveServer
from tenants.services import tenant_create

from inference.bench.errors import BenchError
from inference.bench.memory_api import CALLS, CATEGORY, MemoryApi, fill, measure_calls, memory_api_rows
from inference.bench.report.memory_api import memory_api_grid
from inference.bench.subject import run_key

FACTS = 300


@pytest.fixture
def api(transactional_db: None, live_server: LiveServer) -> MemoryApi:
    return MemoryApi.at(live_server.url, run_key(tenant_create(name="Bench"), "bench"), top_k=5)


def test_every_call_is_timed_once_a_round(api: MemoryApi) -> None:
    assert list(fill(api, FACTS)) == [250, 300]
    rounds = list(measure_calls(api, facts=FACTS, rounds=2, seed=1))
    assert len(rounds) == 2
    rows = memory_api_rows(rounds[-1], {"shape": "m", "k": 5, "facts": FACTS})
    assert [(row["mode"], len(row["samples_ms"])) for row in rows] == [(call, 2) for call in CALLS]
    times = {row["mode"]: row["samples_ms"] for row in rows}
    assert all(found > add for found, add in zip(times["add to found"], times["add"], strict=True))
    assert [line[:4] for line in memory_api_grid(rows).rows] == [["m", "300", call, "2"] for call in CALLS]


def test_a_filtered_search_is_within_the_category(api: MemoryApi) -> None:
    assert list(fill(api, FACTS))
    question = "On which day did Ina buy a brass lamp?"
    assert len(api.search(question, categories={"contains": CATEGORY})) == 5
    assert api.search(question, categories={"contains": "another"}) == []


def test_what_is_added_but_not_found_ends_the_measuring(api: MemoryApi) -> None:
    class Forgetful(MemoryApi):
        def search(self, query: str, **filters: object) -> list[str]:
            return []

    forgetful = Forgetful(api.http, api.top_k)
    with pytest.raises(BenchError, match="not found by its own text"):
        next(measure_calls(forgetful, facts=FACTS, rounds=1, seed=1))
