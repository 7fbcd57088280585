"""The admin changes facts through the services, with all that follows from a change."""

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from facts.models import Encoding, Event, Fact, FactHistory, Owner
from facts.services import Message, extraction_fail, extraction_request, extraction_start, fact_delete
from tenants.models import Tenant

from tests.factories import ALICE, add_facts, encode_fact


@pytest.fixture
def staff(db: None) -> Client:
    client = Client()
    client.force_login(User.objects.create_superuser("staff"))
    return client


def change(fact: Fact) -> str:
    return reverse("admin:facts_fact_change", args=[fact.pk])


def form(text: str, metadata: str = "{}") -> dict[str, str]:
    return {"text": text, "metadata": metadata, "expires_at_0": "", "expires_at_1": ""}


def test_an_edit_is_an_update(tenant: Tenant, staff: Client) -> None:
    fact = add_facts(tenant, "Likes tea.")[0]
    encode_fact(fact)
    assert staff.post(change(fact), form(" Likes  coffee. ", '{"a": 1}')).status_code == 302
    fact.refresh_from_db()
    assert (fact.text, fact.metadata) == ("Likes coffee.", {"a": 1})
    assert Encoding.objects.get().state == "stale"
    assert FactHistory.objects.get(event="UPDATE").actor == "admin staff"
    assert Owner.objects.get().erasure_epoch == 1


@pytest.mark.parametrize("text", ["", "\u200b", "Likes coffee.", "a" * 40_000])
def test_a_bad_edit_is_shown_on_the_form(tenant: Tenant, staff: Client, text: str) -> None:
    fact, _ = add_facts(tenant, "Likes tea.", "Likes coffee.")
    answer = staff.post(change(fact), form(text))
    assert (answer.status_code, "text" in answer.context["adminform"].form.errors) == (200, True)
    fact.refresh_from_db()
    assert fact.text == "Likes tea."


def test_a_deletion_keeps_the_row_and_erases_what_is_served(tenant: Tenant, staff: Client) -> None:
    one, two = add_facts(tenant, "one", "two")
    encode_fact(two, context=[one])
    staff.post(reverse("admin:facts_fact_delete", args=[one.pk]), {"post": "yes"})
    action = {"action": "delete_selected", "_selected_action": [str(two.pk)], "post": "yes"}
    staff.post(reverse("admin:facts_fact_changelist"), action)
    assert list(Fact.objects.values_list("status", "embedding")) == [("deleted", None)] * 2
    assert Encoding.objects.get().state == "stale"


def test_a_deleted_fact_can_only_be_looked_at(tenant: Tenant, staff: Client) -> None:
    fact = add_facts(tenant, "Likes tea.")[0]
    fact_delete(fact=fact)
    assert staff.get(change(fact)).status_code == 200
    assert staff.post(change(fact), form("Likes coffee.")).status_code == 403


def test_an_encoding_can_be_made_again(tenant: Tenant, staff: Client) -> None:
    encoding = encode_fact(add_facts(tenant, "Likes tea.")[0])
    action = {"action": "encode_again", "_selected_action": [encoding.pk]}
    staff.post(reverse("admin:facts_encoding_changelist"), action)
    encoding.refresh_from_db()
    assert encoding.state == "stale"


def test_failed_jobs_are_tried_again_and_others_left_as_they_are(tenant: Tenant, staff: Client) -> None:
    add_facts(tenant, "Likes tea.")
    event = extraction_request(tenant=tenant, scopes=ALICE, messages=[Message("user", "I keep bees.")])
    extraction = extraction_start(tenant=tenant, event_id=event.pk)
    assert extraction is not None
    extraction_fail(extraction=extraction, reason="no model")
    chosen = [str(pk) for pk in Event.objects.values_list("pk", flat=True)]
    answer = staff.post(
        reverse("admin:facts_event_changelist"), {"action": "extract_again", "_selected_action": chosen}, follow=True
    )
    assert b"1 jobs are tried again." in answer.content
    assert sorted(Event.objects.values_list("status", flat=True)) == ["PENDING", "SUCCEEDED"]
