"""The recall tester shows what the gateway decides, and says why it cannot."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from facts.scopes import Scopes
from facts.services import fact_delete
from tenants.models import ApiKey, AuditEntry, Tenant
from tenants.scope import tenant_scope

from frontend import engine
from inference.gateway.runtime import Runtime, load_runtime
from tests.factories import People, add_facts
from tests.frontend.conftest import Clients
from tests.frontend.gateway import running_gateway
from tests.gateway.helpers import QUESTION, make_ready
from tests.reranker import Reranker
from tests.workers.troubled_engine import free_port

ASKED = {"user": "alice", "q": QUESTION}


@pytest.fixture(scope="module")
def runtime() -> Runtime:
    runtime = load_runtime(max_model_len=2048)
    runtime.golden = "passed"
    return runtime


@pytest.fixture(autouse=True)
def no_keys_of_earlier_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "_keys", {})


@pytest.fixture
def answering(transactional_db: None, runtime: Runtime, settings: Any) -> Iterator[None]:
    """The engine's gateway is up; what the test stores is committed, for it to be seen there."""
    runtime.snapshots.clear()
    with running_gateway(runtime) as url:
        settings.ENV = settings.ENV.model_copy(update={"engine_url": url})
        yield


@pytest.fixture
def away(settings: Any) -> None:
    settings.ENV = settings.ENV.model_copy(update={"engine_url": f"http://127.0.0.1:{free_port()}"})


def look(client: Client, tenant: Tenant, **query: Any) -> Any:
    return client.get(reverse("dashboard:recall", args=[tenant.slug]), query)


def test_facts_stand_in_their_order_with_scores_and_reasons(
    answering: None, tenant: Tenant, clients: Clients, runtime: Runtime
) -> None:
    lisbon, boats, _ = add_facts(tenant, "Bob lives in Lisbon.", "Carla paints boats.", "The shop opens at nine.")
    make_ready(runtime, boats)
    answer = look(clients.viewer, tenant, **ASKED, k=2, system="Answer in French.")
    assert answer.status_code == 200
    used, left_out = answer.context["used"], answer.context["left_out"]
    assert used[0].fact["id"] == str(lisbon.pk)
    assert (used[0].fact["use"], used[0].reason) == ("text", "not encoded yet")
    assert (used[0].found_by, used[0].encoding) == ("both", None)
    assert len(used) == 2
    assert [row.reason for row in left_out] == ["there are enough better ones"]
    page = answer.content.decode()
    assert "Answer in French." in page
    assert f"{used[0].fact['scores']['cosine']:.3f}" in page
    parts = answer.context["plan"]["prompt"]["parts"]
    assert sum(share.tokens for share in answer.context["shares"]) == sum(part["tokens"] for part in parts)
    for part in parts:
        assert part["text"].strip() in page.replace("&lt;", "<").replace("&gt;", ">")


def test_an_encoded_fact_is_injected(answering: None, tenant: Tenant, clients: Clients, runtime: Runtime) -> None:
    make_ready(runtime, *add_facts(tenant, "Bob lives in Lisbon.", "Carla paints boats."))
    answer = look(clients.viewer, tenant, **ASKED)
    assert (answer.context["injected"], [row.encoding.state for row in answer.context["used"]]) == (2, ["ready"] * 2)
    labels = [share.label for share in answer.context["shares"]]
    assert labels[:2] == ["Encoding header, injected", "Facts injected"]


def test_nobody_and_somebody_without_facts_are_told(answering: None, people: People, clients: Clients) -> None:
    with tenant_scope(people.other_tenant):
        add_facts(people.other_tenant, "Carol likes rum.", scopes=Scopes(user_id="carol"))
    page = look(clients.viewer, people.tenant, user="carol", q="rum").content.decode()
    assert "Nobody called carol" in page
    assert "likes rum" not in page
    with tenant_scope(people.tenant):
        (fact,) = add_facts(people.tenant, "Likes tea.")
        fact_delete(fact=fact)
    assert "alice has no facts" in look(clients.viewer, people.tenant, **ASKED).content.decode()


def test_what_the_gateway_refuses_is_told(answering: None, tenant: Tenant, clients: Clients) -> None:
    answer = look(clients.viewer, tenant, user="a\tb", q="tea")
    assert (answer.status_code, "control characters" in answer.content.decode()) == (400, True)


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"q": "tea"}, "user"),
        ({"q": "", "user": "alice"}, "q"),
        ({**ASKED, "k": 0}, "k"),
        ({**ASKED, "k": "many"}, "k"),
        ({**ASKED, "threshold": 2}, "threshold"),
    ],
)
def test_bad_input_is_named_and_nobody_is_asked(
    query: dict[str, Any], field: str, tenant: Tenant, clients: Clients
) -> None:
    answer = look(clients.viewer, tenant, **query)
    assert (answer.status_code, list(answer.context["form"].errors)) == (400, [field])
    assert not ApiKey.objects.exists()


def test_an_engine_that_is_away_is_told_with_what_to_do(away: None, tenant: Tenant, clients: Clients) -> None:
    answer = look(clients.viewer, tenant, **ASKED)
    page = answer.content.decode()
    assert answer.status_code == 200
    assert "cannot be asked" in page
    assert "manage.py serve" in page


def test_a_viewer_who_looks_makes_no_key_of_their_own(away: None, tenant: Tenant, clients: Clients) -> None:
    for _ in range(2):
        look(clients.viewer, tenant, **ASKED)
    assert AuditEntry.objects.get(action="key.create").actor == "dashboard"
    Tenant.objects.filter(pk=tenant.pk).update(is_active=False)
    look(clients.viewer, tenant, **ASKED)
    assert ApiKey.objects.count() == 1


def test_before_a_question_the_page_says_what_it_is_for(tenant: Tenant, clients: Clients) -> None:
    assert "Connect an application" in look(clients.viewer, tenant).content.decode()
    add_facts(tenant, "Likes tea.")
    page = look(clients.viewer, tenant, user="alice").content.decode()
    assert '<option value="alice">' in page
    assert 'value="alice"' in page


def test_a_reranker_can_be_asked_where_there_is_one(
    reranker: Reranker, answering: None, tenant: Tenant, clients: Clients
) -> None:
    add_facts(tenant, "Bob lives in Lisbon.", "Carla paints boats.", "A lighthouse is near.")
    plain, reranked = (look(clients.viewer, tenant, **ASKED, k=1, **how) for how in ({}, {"rerank": "on"}))
    assert [row.fact["text"] for row in plain.context["used"]] == ["Bob lives in Lisbon."]
    (row,) = reranked.context["used"]
    assert (row.fact["text"], row.found_by) == ("A lighthouse is near.", "reranker")
    assert "Relevance</th>" in reranked.content.decode()
    assert "Relevance</th>" not in plain.content.decode()


def test_without_a_reranker_none_is_offered(answering: None, tenant: Tenant, clients: Clients) -> None:
    add_facts(tenant, "Bob lives in Lisbon.")
    page = look(clients.viewer, tenant, **ASKED, rerank="on").content.decode()
    assert "reranker" not in page
