"""Whoever is named sees and changes their own memories alone, whatever the names are: over HTTP, with two tenants that
use the same names and the same text.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import httpx
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from pytest_django.live_server_helper import LiveServer
from tenants.services import api_key_create, tenant_create

from tests.api.hostile import KINDS, REFUSED, entities
from tests.api.working import work

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("broker")]
quiet = settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
TEXT = "They keep bees"
Name = tuple[str, str]
NewCaller = Callable[[], "Caller"]


@dataclass(frozen=True)
class Caller:
    """A tenant's application."""

    http: httpx.Client

    def call(self, method: str, path: str, body: Any = None, **query: str) -> httpx.Response:
        return self.http.request(method, path, json=body, params=query)

    def good(self, method: str, path: str, body: Any = None, **query: str) -> Any:
        answer = self.call(method, path, body, **query)
        assert answer.status_code in (200, 201), answer.text
        return answer.json()

    def add(self, name: Name, **fields: Any) -> httpx.Response:
        messages = [{"role": "user", "content": TEXT}]
        return self.call("POST", "/v3/memories/add/", {"messages": messages, "infer": False, **scope(name), **fields})

    def listed(self, name: Name | None = None) -> dict[str, str]:
        """Texts by id."""
        found = self.good("POST", "/v3/memories/", {"filters": scope(name) if name else {}})["results"]
        return {memory["id"]: memory["memory"] for memory in found}

    def searched(self, name: Name) -> set[str]:
        body = {"query": "bees", "filters": scope(name), "threshold": 0, "top_k": 100}
        return {memory["id"] for memory in self.good("POST", "/v3/memories/search/", body)["results"]}

    def exported(self, name: Name) -> set[str]:
        export = self.good("POST", "/v1/exports/", {"schema": {}, **scope(name)})
        work()
        lines = self.call("GET", f"/v1/exports/{export['id']}/download/").text
        return {json.loads(line)["id"] for line in lines.split("\n") if line}

    def counted(self) -> dict[Name, int]:
        found = self.good("GET", "/v1/entities/")["results"]
        return {(entity["type"], entity["name"]): entity["total_memories"] for entity in found}


def scope(name: Name) -> dict[str, str]:
    kind, value = name
    return {f"{kind}_id": value}


def entity_path(name: Name) -> str:
    """With the dots escaped, which clients would take for steps up and down."""
    kind, value = name
    return f"/v2/entities/{kind}/{quote(value, safe='').replace('.', '%2E')}/"


@pytest.fixture
def new_caller(live_server: LiveServer) -> Iterator[NewCaller]:
    """Makes callers, each of a tenant of its own."""
    with ExitStack() as stack:

        def make() -> Caller:
            key = api_key_create(tenant=tenant_create(name="Company", slug=uuid4().hex), name="app")[1]
            headers = {"Authorization": f"Token {key}"}
            return Caller(stack.enter_context(httpx.Client(base_url=live_server.url, headers=headers, timeout=60)))

        yield make


def filled(caller: Caller, names: list[Name]) -> dict[Name, str]:
    """Each accepted name's memory. A name is accepted or refused for itself, and nothing of a refused one is stored."""
    ids = dict[Name, str]()
    for name in names:
        answer = caller.add(name)
        if answer.status_code == 200:
            (result,) = answer.json()["results"]
            assert result["event"] == "ADD"
            ids[name] = result["id"]
        else:
            assert (answer.status_code, list(answer.json())) == (400, list(scope(name)))
    assert caller.listed() == dict.fromkeys(ids.values(), TEXT)
    return ids


@quiet
@given(names=entities)
@example(names=[("user", "alice"), ("agent", "alice"), ("app", "alice"), ("run", "alice")])
@example(names=[("user", "é"), ("user", "e\u0301"), ("user", "alice"), ("user", "alice ")])
def test_everybody_reads_their_own(new_caller: NewCaller, names: list[Name]) -> None:
    caller, stranger = new_caller(), new_caller()
    ids, theirs = filled(caller, names), filled(stranger, names)
    assert caller.counted() == dict.fromkeys(ids, 1)
    for name, memory_id in ids.items():
        assert caller.listed(name) == {memory_id: TEXT}
        assert caller.searched(name) == {memory_id}
        assert caller.exported(name) == {memory_id}
        assert stranger.call("GET", f"/v1/memories/{memory_id}/").status_code == 404
        assert stranger.listed(name) == {theirs[name]: TEXT}


@quiet
@given(names=entities, data=st.data())
@example(names=[("user", "alice"), ("agent", "alice"), ("app", "alice"), ("run", "alice")], data=None)
def test_what_is_changed_or_deleted_is_their_own(new_caller: NewCaller, names: list[Name], data: Any) -> None:
    caller, stranger = new_caller(), new_caller()
    ids, theirs = filled(caller, names), filled(stranger, names)
    rest, away = dict(ids), dict(theirs)
    order = list(ids) if data is None else data.draw(st.permutations(list(ids)))
    for number, name in enumerate(order):
        memory_id = rest.pop(name)
        match number % 4:
            case 0:
                caller.good("PUT", f"/v1/memories/{memory_id}/", {"text": "They sold the bees"})
                assert caller.listed(name) == {memory_id: "They sold the bees"}
                caller.good("DELETE", "/v1/memories/", **scope(name))
            case 1:
                assert stranger.call("DELETE", f"/v1/memories/{memory_id}/").status_code == 404
                caller.good("DELETE", f"/v1/memories/{memory_id}/")
            case 2:
                caller.good("DELETE", entity_path(name))
            case 3:
                caller.good("DELETE", "/v1/batch/", {"memories": [{"memory_id": memory_id}]})
        assert caller.listed() == dict.fromkeys(rest.values(), TEXT)
        assert caller.counted() == dict.fromkeys(rest, 1)
    assert stranger.listed() == dict.fromkeys(away.values(), TEXT)


@quiet
@given(names=entities)
@example(names=[("user", "alice"), ("user", "bob")])
def test_metadata_names_nobody(new_caller: NewCaller, names: list[Name]) -> None:
    """A name in metadata is neither a scope nor a way to another's memory."""
    caller = new_caller()
    ids = filled(caller, names)
    for (own, memory_id), other in zip(ids.items(), [*list(ids)[1:], *list(ids)[:1]], strict=True):
        if own == other:
            continue
        assert caller.add(own, metadata=scope(other)).status_code == 400
        answer = caller.call("PUT", f"/v1/memories/{memory_id}/", {"metadata": scope(other)})
        assert (answer.status_code, list(answer.json())) == (400, ["metadata"])
        found = caller.good("POST", "/v3/memories/", {"filters": {"metadata": scope(other)}})["results"]
        assert found == []
    assert caller.listed() == dict.fromkeys(ids.values(), TEXT)


@pytest.mark.parametrize("name", REFUSED, ids=lambda name: ascii(name)[:20])
def test_a_name_that_cannot_be_one_is_refused_everywhere(new_caller: NewCaller, name: str) -> None:
    caller = new_caller()
    (kept,) = filled(caller, [("user", "alice")]).values()
    for kind in KINDS:
        asked = (kind, name)
        assert caller.add(asked).status_code == 400
        assert caller.call("DELETE", "/v1/memories/", **scope(asked)).status_code == 400
        assert caller.call("DELETE", entity_path(asked)).status_code in (400, 404)
        assert caller.call("GET", entity_path(asked)).status_code in (400, 404)
    assert caller.listed() == {kept: TEXT}
