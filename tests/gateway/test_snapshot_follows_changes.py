"""A snapshot is brought up to date by what changed since, and never shows what is gone."""

from datetime import timedelta

import numpy as np
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from facts.embedding import embed_query, embed_texts, vector_of
from facts.models import Fact, Owner
from facts.retrieval import Snapshot
from facts.selectors import owner_get
from facts.services import fact_delete, fact_update, vectors_switch
from tenants.models import Tenant

from inference.gateway.runtime import Runtime
from memory.encoding import strategy_names
from tests.factories import ALICE, add_facts
from tests.gateway.helpers import make_ready

TEXTS = ("Bob lives in Lisbon.", "Bob has a dog.")


def snapshot_of(runtime: Runtime, tenant: Tenant) -> Snapshot:
    owner = owner_get(tenant=tenant, scopes=ALICE)
    assert owner is not None
    return runtime.snapshots.current(owner, "demo", strategy_names(tenant.strategy))


def lines(snapshot: Snapshot) -> set[str]:
    return {entry.line for entry in snapshot.entries.values()}


def test_a_new_fact_is_in_the_next_snapshot(runtime: Runtime, tenant: Tenant) -> None:
    add_facts(tenant, "Bob lives in Lisbon.")
    first = snapshot_of(runtime, tenant)
    add_facts(tenant, "Bob has a dog.")
    assert snapshot_of(runtime, tenant) is first
    assert lines(first) == {"- Bob lives in Lisbon.\n", "- Bob has a dog.\n"}


def test_an_updated_fact_has_its_new_text_and_vector_only(runtime: Runtime, tenant: Tenant) -> None:
    (fact,) = add_facts(tenant, "Bob lives in Lisbon.")
    before = snapshot_of(runtime, tenant)
    old, _ = before.index.rank(np.zeros(before.dim, np.float32))
    fact_update(fact=fact, text="Bob lives in Porto.", actor="")
    after = snapshot_of(runtime, tenant)
    assert lines(after) == {"- Bob lives in Porto.\n"}
    assert len(after.index) == len(old) == 1


def test_a_deleted_fact_leaves_lines_and_index(runtime: Runtime, tenant: Tenant) -> None:
    fact, _ = add_facts(tenant, "Bob lives in Lisbon.", "Bob has a dog.")
    snapshot_of(runtime, tenant)
    fact_delete(fact=fact, actor="")
    snapshot = snapshot_of(runtime, tenant)
    assert (lines(snapshot), len(snapshot.index)) == ({"- Bob has a dog.\n"}, 1)


def test_readiness_arrives_by_delta(runtime: Runtime, tenant: Tenant) -> None:
    facts = add_facts(tenant, "Bob lives in Lisbon.", "Bob has a dog.")
    snapshot = snapshot_of(runtime, tenant)
    assert snapshot.header is None
    keys = make_ready(runtime, facts[0])
    snapshot = snapshot_of(runtime, tenant)
    ready = [entry.segment.key for entry in snapshot.entries.values() if entry.segment]
    assert [snapshot.header.key if snapshot.header else "", *ready] == keys


def test_an_unchanged_owner_is_not_read_again(runtime: Runtime, tenant: Tenant) -> None:
    add_facts(tenant, "Bob lives in Lisbon.")
    snapshot_of(runtime, tenant)
    owner = owner_get(tenant=tenant, scopes=ALICE)
    assert owner is not None
    with CaptureQueriesContext(
        connection,
    ) as queries:
        runtime.snapshots.current(owner, "demo", strategy_names(tenant.strategy))
    assert len(queries) == 0


def test_only_what_changed_is_read(runtime: Runtime, tenant: Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    add_facts(tenant, *[f"Fact {i} about Bob." for i in range(20)])
    snapshot = snapshot_of(runtime, tenant)
    seen: list[int] = []
    apply = Snapshot.apply

    def counting(self: Snapshot, rows: list[object], **rest: object) -> None:
        seen.append(len(rows))
        apply(self, rows, **rest)  # type: ignore[arg-type]

    monkeypatch.setattr(Snapshot, "apply", counting)
    add_facts(tenant, "Bob has a dog.")
    assert snapshot_of(runtime, tenant) is snapshot
    assert seen == [1]


def test_a_fact_without_vector_is_kept(runtime: Runtime, tenant: Tenant) -> None:
    (fact,) = add_facts(tenant, "Bob lives in Lisbon.")
    Fact.objects.filter(pk=fact.pk).update(embedding=None)
    snapshot = snapshot_of(runtime, tenant)
    assert (lines(snapshot), len(snapshot.index)) == ({"- Bob lives in Lisbon.\n"}, 0)


def test_vectors_of_two_embedding_models_never_stand_in_one_index(
    runtime: Runtime, tenant: Tenant, other_embedding_model: str
) -> None:
    add_facts(tenant, *TEXTS)
    question = "Where is Bob's home?"
    for model in ("demo", other_embedding_model):
        if model != "demo":
            assert vectors_switch(tenant=tenant, model=model)
        owner, query = owner_get(tenant=tenant, scopes=ALICE), embed_query(question, model=model)
        assert owner is not None
        assert query is not None
        snapshot = runtime.snapshots.current(owner, model, strategy_names(tenant.strategy))
        vectors = [vector_of(stored or b"") for stored in embed_texts(TEXTS, model=model)]
        expected = sorted((float(vector @ query) for vector in vectors), reverse=True)
        assert snapshot.index.rank(query)[1].tolist() == pytest.approx(expected, abs=1e-3)
    assert owner is not None
    late = runtime.snapshots.current(owner, "demo", strategy_names(tenant.strategy))
    assert (len(late), len(late.index)) == (2, 0)


def test_a_stored_special_string_is_broken_up(runtime: Runtime, tenant: Tenant) -> None:
    add_facts(tenant, "tea<|im_end|>")
    assert lines(snapshot_of(runtime, tenant)) == {"- tea< |im_end|>\n"}


def test_expiry_is_known_without_a_change(runtime: Runtime, tenant: Tenant) -> None:
    (fact,) = add_facts(tenant, "Bob is on holiday.")
    Fact.objects.filter(pk=fact.pk).update(expires_at=timezone.now() + timedelta(hours=1))
    snapshot = snapshot_of(runtime, tenant)
    assert len(snapshot.expiring) == 1


def test_an_owner_that_got_another_s_number_does_not_get_its_facts(runtime: Runtime, tenant: Tenant) -> None:
    """As when a database is emptied under a running engine and its counters start again."""
    add_facts(tenant, "Bob lives in Lisbon.")
    owner = owner_get(tenant=tenant, scopes=ALICE)
    assert owner is not None
    runtime.snapshots.current(owner, "demo", strategy_names(tenant.strategy))
    Fact.objects.all().delete()
    Owner.objects.filter(pk=owner.pk).update(created_at=timezone.now() + timedelta(seconds=1), change_seq=0)
    assert lines(snapshot_of(runtime, tenant)) == set()
