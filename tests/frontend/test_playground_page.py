"""The playground asks only what can be asked, and says why it could not. What it answers is tested in the browser."""

import asyncio
import json
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from config.tracing import end_tracing
from django.test import AsyncClient, Client
from django.urls import reverse
from tenants.models import ApiKey, AuditEntry, Tenant
from tenants.selectors import api_key_authenticate
from tenants.services import api_key_revoke

from frontend import engine
from tests.factories import People, add_facts
from tests.frontend.conftest import Clients
from tests.tracing.collector import Collector
from tests.workers.troubled_engine import Reply, TroubledEngine, free_port

QUESTION: dict[str, Any] = {"user": "ada", "mode": "auto", "messages": [{"role": "user", "content": "Where?"}]}


@pytest.fixture(autouse=True)
def no_keys_of_earlier_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "_keys", {})


def ask(client: Client, tenant: Tenant, **changes: Any) -> Any:
    path = reverse("dashboard:playground-chat", args=[tenant.slug])
    return client.post(path, {**QUESTION, **changes}, content_type="application/json")


def events(answer: Any) -> list[dict[str, Any]]:
    async def read() -> str:
        return "".join([part.decode() async for part in answer.streaming_content])

    return [json.loads(line) for line in asyncio.run(read()).splitlines()]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"user": " "}, "name the user"),
        ({"mode": "both"}, "mode is one of"),
        ({"messages": []}, "1 to 100 messages"),
        ({"messages": [{"role": "user", "content": "a" * 30_000}]}, "at most 20000"),
        ({"messages": "hello"}, "cannot be read"),
    ],
)
def test_a_question_that_makes_no_sense_is_refused(
    change: dict[str, Any], said: str, tenant: Tenant, clients: Clients
) -> None:
    answer = ask(clients.admin, tenant, **change)
    assert (answer.status_code, said in answer.json()["message"]) == (400, True)
    assert not ApiKey.objects.exists()


def test_an_engine_that_is_away_is_told(tenant: Tenant, clients: Clients, settings: Any) -> None:
    settings.ENV = settings.ENV.model_copy(update={"engine_url": f"http://127.0.0.1:{free_port()}"})
    (event,) = events(ask(clients.admin, tenant))
    assert event["kind"] == "error"
    assert "cannot be asked" in event["message"]


def test_its_key_only_chats_is_used_again_and_made_anew_once_revoked(tenant: Tenant, clients: Clients) -> None:
    for _ in range(2):
        ask(clients.admin, tenant)
    api_key = ApiKey.objects.get()
    assert AuditEntry.objects.get(action="key.create").actor == "dashboard"
    assert (api_key.scopes, api_key.expires_at is not None) == (["chat"], True)
    api_key_revoke(api_key=api_key)
    ask(clients.admin, tenant)
    live = ApiKey.objects.get(revoked_at=None)
    assert api_key_authenticate(raw=engine._keys[tenant.pk][0]) == live


def test_asking_is_in_the_audit_log_without_the_words(tenant: Tenant, clients: Clients) -> None:
    ask(clients.admin, tenant)
    entry = AuditEntry.objects.get(action="playground.chat")
    assert (entry.actor, entry.target, entry.details) == ("user:admin", "user ada", {"mode": "auto"})


def test_viewers_see_it_but_do_not_ask(tenant: Tenant, clients: Clients) -> None:
    add_facts(tenant, "Likes tea.")
    page = clients.viewer.get(reverse("dashboard:playground", args=[tenant.slug])).content.decode()
    assert '<option value="alice">' in page
    assert "Asking needs the role admin" in page
    assert ask(clients.viewer, tenant).status_code == 403


class BusyEngine(TroubledEngine):
    def answer(self, body: dict[str, Any]) -> Reply:
        return 503, {"error": {"message": "ask again"}}


@pytest.mark.django_db(transaction=True)
def test_the_engine_is_asked_in_the_requests_name(
    tenant: Tenant, people: People, collector: Collector, settings: Any
) -> None:
    client = AsyncClient()
    client.force_login(people.owner)

    async def asked() -> None:
        path = reverse("dashboard:playground-chat", args=[tenant.slug])
        answer: Any = await client.post(path, QUESTION, content_type="application/json")
        assert [part async for part in answer.streaming_content]

    with BusyEngine() as engine:
        settings.ENV = settings.ENV.model_copy(update={"engine_url": engine.url})
        async_to_sync(asked)()  # views run in this thread, with its connection
    end_tracing()
    (span,) = collector.spans
    assert span.name == "POST /t/<slug:slug>/playground/chat/"
    assert engine.traces[0].split("-")[1:3] == [span.trace, span.span]
    assert QUESTION["user"].encode() not in collector.raw
