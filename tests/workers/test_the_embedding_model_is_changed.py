"""Searches compare the former model's vectors until all facts have the new one's; then all at once the new ones'."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import redis
from facts.embedding import embed_query, embed_texts, vector_of
from facts.models import ComingVector, Event, Fact, Owner
from facts.scopes import Scopes
from facts.search import facts_search
from facts.services import fact_delete, fact_update, facts_embed_missing, vectors_prepare, vectors_switch
from jobs.models import Job, JobKind, JobState
from jobs.services import job_cancel, job_retry
from tenants.models import Tenant
from tenants.scope import tenant_scope

from tests.api.working import work
from tests.factories import People, add_facts
from workers import embedding
from workers.embedding import follow_embedding_model

pytestmark = pytest.mark.django_db(transaction=True)
TEXTS = ("Ada keeps bees behind her house.", "Ada drinks tea.", "Ada plays the cello.", "Ada lives in Oslo.")
QUESTION = "Which insects does she have?"


def configure(settings: Any, model: str) -> None:
    settings.ENV = settings.ENV.model_copy(update={"embedding_model": model})


def scores(tenant: Tenant) -> dict[str, float | None]:
    tenant.refresh_from_db()
    return {found.fact.text: found.score for found in facts_search(tenant=tenant, query=QUESTION, threshold=-1.0)}


def expected(model: str) -> dict[str, float]:
    query = embed_query(QUESTION, model=model)
    assert query is not None
    vectors = [vector_of(stored) for stored in embed_texts(TEXTS, model=model) if stored is not None]
    return {text: float(vector @ query) for text, vector in zip(TEXTS, vectors, strict=True)}


def is_all_of(found: dict[str, float | None], model: str) -> bool:
    wanted = expected(model)
    return found.keys() == wanted.keys() and all(
        score is not None and np.isclose(score, wanted[text], atol=1e-3) for text, score in found.items()
    )


def test_searches_answer_from_the_former_model_until_all_is_there(
    people: People, settings: Any, other_embedding_model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    tenant = people.tenant
    with tenant_scope(tenant):
        add_facts(tenant, *TEXTS[:2])
        add_facts(tenant, *TEXTS[2:], scopes=Scopes(user_id="ada", agent_id="helper"))
        assert not is_all_of(scores(tenant), other_embedding_model)
        configure(settings, other_embedding_model)
        seen = []

        def prepare(**options: Any) -> int:
            made = vectors_prepare(**options)
            seen.append(is_all_of(scores(tenant), "demo"))
            return made

        monkeypatch.setattr(embedding, "vectors_prepare", prepare)
        monkeypatch.setattr(embedding, "AT_ONCE", 1)
        follow_embedding_model(tenant)
        work()
        assert seen == [True] * 4
        assert is_all_of(scores(tenant), other_embedding_model)
        assert (tenant.embedding_model, ComingVector.objects.count()) == (other_embedding_model, 0)


def test_the_job_and_its_event_say_how_far_it_is(people: People, settings: Any, other_embedding_model: str) -> None:
    tenant = people.tenant
    with tenant_scope(tenant):
        add_facts(tenant, *TEXTS)
        configure(settings, other_embedding_model)
        follow_embedding_model(tenant)
        job = Job.objects.get(kind=JobKind.EMBEDDINGS)
        assert (job.state, Event.objects.get(pk=job.event_id).status) == ("PENDING", "PENDING")
        follow_embedding_model(tenant)
        assert Job.objects.count() == 1
        work()
        job.refresh_from_db()
        assert (job.state, job.done, job.total) == ("SUCCEEDED", 4, 4)
        event = Event.objects.get(pk=job.event_id)
        assert (event.event_type, event.status) == ("EMBEDDINGS", "SUCCEEDED")
        tenant.refresh_from_db()
        follow_embedding_model(tenant)
        assert Job.objects.count() == 1


def test_a_model_that_cannot_be_used_changes_nothing_and_says_so(people: People, settings: Any, tmp_path: Path) -> None:
    tenant = people.tenant
    with tenant_scope(tenant):
        add_facts(tenant, *TEXTS)
        configure(settings, str(tmp_path))
        follow_embedding_model(tenant)
        work()
        job = Job.objects.get()
        assert (job.state, "cannot be used; demo stays in use" in job.error) == (JobState.FAILED, True)
        assert is_all_of(scores(tenant), "demo")
        follow_embedding_model(tenant)
        assert Job.objects.count() == 1
        add_facts(tenant, "Ada has a new hive.")
        assert all(score is not None for score in scores(tenant).values())


def test_what_changes_meanwhile_is_not_left_behind(people: People, other_embedding_model: str) -> None:
    tenant = people.tenant
    with tenant_scope(tenant):
        changed, deleted, kept, _ = add_facts(tenant, *TEXTS)
        vectors_prepare(tenant=tenant, model=other_embedding_model, limit=10)
        fact_update(fact=changed, text="Ada keeps wasps.")
        fact_delete(fact=deleted)
        (new,) = add_facts(tenant, "Ada has a new hive.")
        assert vectors_switch(tenant=tenant, model=other_embedding_model)
        for fact in (changed, kept, new):
            fact.refresh_from_db()
            (vector,) = embed_texts([fact.text], model=other_embedding_model)
            assert (bytes(fact.embedding or b""), fact.embedding_model) == (vector, other_embedding_model)
        deleted.refresh_from_db()
        assert deleted.embedding is None
        assert new.seq == Owner.objects.get().change_seq


def test_what_an_old_process_stores_late_gets_its_vector_later(people: People, other_embedding_model: str) -> None:
    tenant, late = people.tenant, Tenant.objects.get(pk=people.tenant.pk)
    with tenant_scope(tenant):
        add_facts(tenant, TEXTS[0])
        assert vectors_switch(tenant=tenant, model=other_embedding_model)
        add_facts(late, TEXTS[1])
        found = scores(tenant)
        assert (found[TEXTS[0]] is None, found[TEXTS[1]]) == (False, None)
        assert facts_embed_missing(tenant=tenant) == 1
        assert None not in scores(tenant).values()


def test_going_back_before_the_end_forgets_what_was_prepared(
    people: People, settings: Any, other_embedding_model: str, broker: redis.Redis
) -> None:
    tenant = people.tenant
    with tenant_scope(tenant):
        add_facts(tenant, *TEXTS)
        configure(settings, other_embedding_model)
        follow_embedding_model(tenant)
        vectors_prepare(tenant=tenant, model=other_embedding_model, limit=2)
        configure(settings, "demo")
        follow_embedding_model(tenant)
        work()
        assert (Job.objects.get().state, ComingVector.objects.count()) == (JobState.FAILED, 0)
        assert is_all_of(scores(tenant), "demo")


def test_a_job_that_goes_on_when_another_has_moved_the_tenant_ends_well(
    people: People, settings: Any, other_embedding_model: str
) -> None:
    tenant = people.tenant
    with tenant_scope(tenant):
        add_facts(tenant, *TEXTS)
        configure(settings, other_embedding_model)
        follow_embedding_model(tenant)
        older = Job.objects.get()
        job_cancel(job=older, actor="test")
        assert vectors_switch(tenant=tenant, model=other_embedding_model)
        seq = Owner.objects.get().change_seq
        job_retry(job=older)
        work()
        older.refresh_from_db()
        assert (older.state, older.done, older.total) == ("SUCCEEDED", 4, 4)
        assert (Owner.objects.get().change_seq, ComingVector.objects.count()) == (seq, 0)


def test_a_job_ends_well_when_another_moves_the_tenant_meanwhile(
    people: People, settings: Any, other_embedding_model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other forgets what it needs no more, and beat whatever is prepared after that."""
    tenant, rounds = people.tenant, 0

    def prepare(**options: Any) -> int:
        nonlocal rounds
        rounds += 1
        assert rounds == 1
        assert vectors_switch(tenant=Tenant.objects.get(pk=tenant.pk), model=other_embedding_model)
        return vectors_prepare(**options)

    with tenant_scope(tenant):
        add_facts(tenant, *TEXTS)
        configure(settings, other_embedding_model)
        follow_embedding_model(tenant)
        monkeypatch.setattr(embedding, "vectors_prepare", prepare)
        monkeypatch.setattr(embedding, "AT_ONCE", 1)
        work()
        assert (rounds, Job.objects.get().state) == (1, "SUCCEEDED")
        assert is_all_of(scores(tenant), other_embedding_model)
        follow_embedding_model(tenant)
        assert ComingVector.objects.count() == 0


def test_other_tenants_keep_their_vectors(people: People, other_embedding_model: str) -> None:
    for tenant in (people.tenant, people.other_tenant):
        with tenant_scope(tenant):
            add_facts(tenant, *TEXTS)
    with tenant_scope(people.tenant):
        assert vectors_switch(tenant=people.tenant, model=other_embedding_model)
    with tenant_scope(people.other_tenant):
        assert is_all_of(scores(people.other_tenant), "demo")
        assert set(Fact.objects.values_list("embedding_model", flat=True)) == {"demo"}
