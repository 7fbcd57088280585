from datetime import timedelta

import pytest
from django.utils import timezone
from facts.errors import FactDuplicateError, FactGoneError, InvalidInputError
from facts.models import Fact, FactHistory
from facts.services import Message, fact_delete, fact_update, facts_add
from tenants.models import Tenant

from tests.factories import ALICE, add_facts, encode_fact


def test_a_new_text_gets_hash_vector_and_history(tenant: Tenant) -> None:
    old = add_facts(tenant, "Likes tea.")[0]
    new = fact_update(fact=old, text=" Likes  coffee. ", metadata={"since": 2024}, actor="key 1")
    assert (new.text, new.metadata) == ("Likes coffee.", {"since": 2024})
    assert new.hash != old.hash
    assert bytes(new.embedding or b"") != bytes(old.embedding or b"")
    entry = FactHistory.objects.get(event="UPDATE")
    assert (entry.old_text, entry.new_text, entry.actor) == ("Likes tea.", "Likes coffee.", "key 1")


def test_metadata_and_expiry_leave_the_encoding_alone(tenant: Tenant) -> None:
    fact = add_facts(tenant, "Likes tea.")[0]
    encoding = encode_fact(fact)
    tomorrow = timezone.now() + timedelta(days=1)
    assert fact_update(fact=fact, metadata={"a": 1}, expires_at=tomorrow).expires_at == tomorrow
    assert fact_update(fact=fact, expires_at=None).expires_at is None
    encoding.refresh_from_db()
    assert encoding.state == "ready"


def test_another_facts_text_is_refused(tenant: Tenant) -> None:
    tea, _ = add_facts(tenant, "Likes tea.", "Likes coffee.")
    with pytest.raises(FactDuplicateError, match="has this text"):
        fact_update(fact=tea, text="Likes coffee.")
    tea.refresh_from_db()
    assert tea.text == "Likes tea."
    assert not FactHistory.objects.filter(event="UPDATE").exists()


def test_an_immutable_fact_is_refused_but_can_be_deleted(tenant: Tenant) -> None:
    added = facts_add(tenant=tenant, scopes=ALICE, messages=[Message("user", "Born in Ulm.")], immutable=True)
    fact = added.facts[0].fact
    with pytest.raises(InvalidInputError, match="immutable"):
        fact_update(fact=fact, text="Born in Bonn.")
    fact_delete(fact=fact)
    assert not Fact.objects.filter(status="active").exists()


def test_a_deleted_fact_can_neither_be_updated_nor_deleted(tenant: Tenant) -> None:
    fact = add_facts(tenant, "Likes tea.")[0]
    fact_delete(fact=fact)
    with pytest.raises(FactGoneError):
        fact_update(fact=fact, text="Likes coffee.")
    with pytest.raises(FactGoneError):
        fact_delete(fact=fact)
