"""The facts nearest to the question, best last; none that has expired, belongs elsewhere or is filtered out."""

from datetime import datetime, timedelta

from django.utils import timezone
from facts.embedding import embed_query
from facts.models import Fact
from facts.scopes import Scopes
from facts.selectors import facts_by_words, owner_get
from tenants.models import Tenant

from inference.gateway.candidates import choose_facts, find_facts
from inference.gateway.runtime import Runtime
from memory.encoding import strategy_names
from tests.factories import ALICE, add_facts

TEXTS = ("Bob lives in Lisbon.", "Carla paints boats.", "The shop opens at nine.", "Bob has a dog called Bruno.")


def chosen(
    runtime: Runtime,
    tenant: Tenant,
    question: str = "",
    *,
    scopes: Scopes = ALICE,
    top_k: int = 50,
    now: datetime | None = None,
    by_words: bool = False,
) -> list[str]:
    owner = owner_get(tenant=tenant, scopes=scopes)
    assert owner is not None
    snapshot = runtime.snapshots.current(owner, "demo", strategy_names(tenant.strategy))
    query = embed_query(question, model="demo") if question else None
    words = facts_by_words(owner=owner, question=question, limit=100) if by_words else []
    now = now or timezone.now()
    found = find_facts(snapshot, scopes=scopes, query=query, most=top_k, now=now, by_words=words)
    return [entry.text for entry in choose_facts(found, top_k=top_k).entries]


def test_the_best_fact_stands_last(runtime: Runtime, tenant: Tenant) -> None:
    add_facts(tenant, *TEXTS)
    assert chosen(runtime, tenant, "Where does Bob live?")[-1] == "Bob lives in Lisbon."


def test_the_full_count_is_chosen_when_that_many_are_there(runtime: Runtime, tenant: Tenant) -> None:
    add_facts(tenant, *TEXTS)
    assert [len(chosen(runtime, tenant, "dogs", top_k=k)) for k in (1, 3, 4, 9)] == [1, 3, 4, 4]


def test_without_a_question_the_newest_stand_last(runtime: Runtime, tenant: Tenant) -> None:
    add_facts(tenant, *TEXTS)
    assert chosen(runtime, tenant, top_k=2) == list(TEXTS[-2:])


def test_facts_without_vector_are_candidates_beside_the_best(runtime: Runtime, tenant: Tenant) -> None:
    facts = add_facts(tenant, *TEXTS)
    Fact.objects.filter(pk=facts[1].pk).update(embedding=None)
    assert chosen(runtime, tenant, "Where does Bob live?", top_k=2) == ["Carla paints boats.", "Bob lives in Lisbon."]


def test_expired_facts_are_left_out(runtime: Runtime, tenant: Tenant) -> None:
    facts = add_facts(tenant, *TEXTS)
    expiry = timezone.now() + timedelta(hours=1)
    Fact.objects.filter(pk=facts[0].pk).update(expires_at=expiry)
    assert TEXTS[0] in chosen(runtime, tenant, "Bob", now=expiry - timedelta(seconds=1))
    assert TEXTS[0] not in chosen(runtime, tenant, "Bob", now=expiry)


def test_more_names_narrow_the_choice(runtime: Runtime, tenant: Tenant) -> None:
    both = Scopes(user_id="alice", agent_id="cook")
    add_facts(tenant, "Alice likes tea.")
    add_facts(tenant, "Alice likes soup.", scopes=both)
    assert chosen(runtime, tenant, "likes", scopes=both) == ["Alice likes soup."]
    assert set(chosen(runtime, tenant, "likes")) == {"Alice likes tea.", "Alice likes soup."}


NUMBERED = [f"The parcel with number {number} was sent to a customer." for number in range(700, 730)]


def test_a_name_that_vectors_blur_is_found_by_its_word(runtime: Runtime, tenant: Tenant) -> None:
    add_facts(tenant, *NUMBERED, "Zofia was ill on Monday.")
    question = "How are packages shipped to clients? Zofia wonders."
    assert "Zofia was ill on Monday." not in chosen(runtime, tenant, question, top_k=3)
    found = chosen(runtime, tenant, question, top_k=3, by_words=True)
    assert "Zofia was ill on Monday." in found
    assert len(found) == 3


def test_words_bring_back_no_fact_that_is_out_of_bounds(runtime: Runtime, tenant: Tenant) -> None:
    facts = add_facts(tenant, *NUMBERED, "Zofia was ill on Monday.")
    expiry = timezone.now() + timedelta(hours=1)
    Fact.objects.filter(pk=facts[-1].pk).update(expires_at=expiry)
    found = chosen(runtime, tenant, "Zofia", top_k=3, by_words=True, now=expiry + timedelta(seconds=1))
    assert "Zofia was ill on Monday." not in found
