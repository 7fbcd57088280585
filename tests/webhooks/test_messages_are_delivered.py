"""Each change of a memory is told to the webhooks that want to hear of it, signed, once."""

import json

import pytest
from facts.services import fact_delete, fact_update
from standardwebhooks.webhooks import Webhook as Verifier
from standardwebhooks.webhooks import WebhookVerificationError
from tenants.scope import tenant_scope
from webhooks.models import Delivery, Webhook
from webhooks.services import webhook_create

from tests.api.working import work
from tests.factories import People, add_facts
from tests.webhooks.receiver import Receiver


def hook(people: People, receiver: Receiver, *event_types: str) -> Webhook:
    wanted = event_types or ("memory_add", "memory_update", "memory_delete")
    return webhook_create(tenant=people.tenant, url=receiver.url, name="hook", event_types=wanted, actor="test")


def bodies(receiver: Receiver) -> list[dict[str, object]]:
    return [json.loads(received.body)["event_details"] for received in receiver.received]


def test_add_update_and_delete_are_told(people: People, receiver: Receiver) -> None:
    hook(people, receiver)
    (fact,) = add_facts(people.tenant, "Ann has a cat.")
    work()
    fact_update(fact=fact, text="Ann has two cats.")
    work()
    fact_delete(fact=fact)
    work()
    told = {"id": str(fact.pk), "user_id": "alice"}
    assert bodies(receiver) == [
        {**told, "event": "ADD", "data": {"memory": "Ann has a cat."}},
        {**told, "event": "UPDATE", "data": {"memory": "Ann has two cats."}},
        {"id": str(fact.pk), "event": "DELETE", "data": {"memory": None}},
    ]
    assert {received.path for received in receiver.received} == {"/hook?x=1"}
    with tenant_scope(people.tenant):
        assert set(Delivery.objects.values_list("state", "attempts", "status")) == {("delivered", 1, 204)}


def test_a_message_is_signed_as_the_standard_says(people: People, receiver: Receiver) -> None:
    webhook = hook(people, receiver)
    add_facts(people.tenant, "Ann has a cat.")
    work()
    (message,) = receiver.received
    assert Verifier(webhook.secret).verify(message.body, message.headers)["event_type"] == "memory_add"
    with pytest.raises(WebhookVerificationError):
        Verifier(webhook.secret).verify(message.body.replace(b"cat", b"dog"), message.headers)


def test_only_wanted_changes_are_told_and_only_the_tenants_own(people: People, receiver: Receiver) -> None:
    hook(people, receiver, "memory_update")
    (fact,) = add_facts(people.tenant, "Ann has a cat.")
    add_facts(people.other_tenant, "Bob has a dog.")
    fact_update(fact=fact, text="Ann has two cats.")
    work()
    assert [body["event"] for body in bodies(receiver)] == ["UPDATE"]


def test_a_fact_that_was_there_already_is_not_told(people: People, receiver: Receiver) -> None:
    add_facts(people.tenant, "Ann has a cat.")
    hook(people, receiver)
    add_facts(people.tenant, "Ann has a cat.", "Ann has a dog.")
    work()
    assert [body["data"] for body in bodies(receiver)] == [{"memory": "Ann has a dog."}]


def test_what_is_deleted_before_it_is_told_leaves_no_text(people: People, receiver: Receiver) -> None:
    hook(people, receiver, "memory_add")
    (fact,) = add_facts(people.tenant, "Ann has a cat.")
    fact_delete(fact=fact)
    work()
    assert [body["data"] for body in bodies(receiver)] == [{"memory": None}]


def test_an_inactive_webhook_hears_nothing(people: People, receiver: Receiver) -> None:
    webhook = hook(people, receiver)
    with tenant_scope(people.tenant):
        Webhook.objects.filter(pk=webhook.pk).update(is_active=False)
    add_facts(people.tenant, "Ann has a cat.")
    work()
    assert receiver.received == []
