"""Erasing a run, an agent or an app that is not its memories' owner: the conversations go with the facts."""

import pytest
from facts.inputs import FoundFact
from facts.models import Encoding, Extraction, Turn
from facts.scopes import Scopes
from facts.selectors import extraction_turns
from facts.services import entity_erase, facts_remember
from tenants.models import Tenant

from tests.factories import add_facts, encode_fact
from tests.facts.remembering import active, remember, started

RUN = Scopes(user_id="alice", run_id="r1", agent_id="helper")
SAID = ("Ann is back.", "Ann lost her bag.", "It was in Rome.")


def converse(tenant: Tenant) -> None:
    """One of the turns gave a fact."""
    extraction = started(tenant, *SAID, scopes=RUN, metadata={"from": "secret-form"})
    first, *_ = extraction_turns(extraction=extraction)
    assert facts_remember(extraction=extraction, found=[FoundFact("Ann is back.", first.pk, first.occurred_at)])


@pytest.mark.parametrize(("kind", "name"), [("run", "r1"), ("agent", "helper")])
def test_turns_that_gave_no_fact_go_too(tenant: Tenant, kind: str, name: str) -> None:
    remember(tenant, "Alice keeps bees.")
    converse(tenant)
    entity_erase(tenant=tenant, kind=kind, name=name)
    assert active(tenant) == ["Alice keeps bees."]
    assert [turn.content for turn in Turn.objects.all()] == ["Alice keeps bees."]
    assert [extraction.metadata for extraction in Extraction.objects.all()] == [{}]


@pytest.mark.parametrize(("kind", "name"), [("run", "r2"), ("agent", "other"), ("app", "r1")])
def test_others_conversations_stay(tenant: Tenant, kind: str, name: str) -> None:
    converse(tenant)
    entity_erase(tenant=tenant, kind=kind, name=name)
    assert Turn.objects.count() == len(SAID)
    assert Extraction.objects.count() == 1


def test_kv_that_was_computed_from_its_turns_is_served_no_more(tenant: Tenant) -> None:
    bees, tea = add_facts(tenant, "Alice keeps bees.", "Alice drinks tea.")
    converse(tenant)
    read, other = encode_fact(bees), encode_fact(tea)
    silent = Turn.objects.get(content=SAID[2])
    Encoding.objects.filter(pk=read.pk).update(context_turn_ids=[silent.pk])
    epoch = bees.owner.erasure_epoch
    entity_erase(tenant=tenant, kind="run", name="r1")
    assert dict(Encoding.objects.values_list("pk", "state")) == {read.pk: "stale", other.pk: "ready"}
    bees.owner.refresh_from_db()
    assert bees.owner.erasure_epoch > epoch
