"""How much of the gold evidence is among the k facts found: by vectors, by words, by both as a chat finds them."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from uuid import UUID

from django.conf import settings
from django.utils import timezone
from facts.embedding import embed_query, query_dim
from facts.models import Owner
from facts.retrieval import Snapshot
from facts.scopes import Scopes
from facts.selectors import fact_delta, facts_by_words, owner_get
from facts.services import Message, facts_add
from tenants.models import Tenant
from tenants.scope import tenant_scope
from tenants.services import tenant_create

from inference.bench.accuracy.locomo import Conversation, Question
from inference.bench.accuracy.measures import mean_estimate
from inference.bench.errors import BenchError
from inference.bench.results import Row
from inference.gateway.candidates import choose_facts, find_facts
from memory.text import fact_line

WAYS = ("dense", "lexical", "hybrid")
MOST_MESSAGES = 1000


@dataclass(frozen=True)
class Found:
    """`ranked`: facts' places in their conversation, best first, by way."""

    conversation: Conversation
    question: Question
    ranked: dict[str, list[int]]

    def recall(self, way: str, k: int) -> float | None:
        """Of the evidence's turns that any fact was taken from, the share that the k best facts cover; None if none."""
        facts = self.conversation.facts
        known = {turn for fact in facts for turn in fact.turns} & set(self.question.evidence)
        if not known:
            return None
        covered = {turn for place in self.ranked[way][:k] for turn in facts[place].turns} & known
        return len(covered) / len(known)


def search_all(conversations: Sequence[Conversation], progress: Callable[[], None]) -> Iterator[Found]:
    """Stores the facts as a tenant's that is deleted at the end. Raises BenchError without an embedding model."""
    dim = query_dim(settings.ENV.embedding_model)
    if dim is None:
        raise BenchError("the embedding model does not load")
    tenant = tenant_create(name="Recall bench")
    try:
        with tenant_scope(tenant):
            for conversation in conversations:
                owner, places, snapshot = _store(tenant, conversation, dim)
                for question in conversation.questions:
                    yield Found(conversation, question, _search(owner, places, snapshot, question.text))
                    progress()
    finally:
        tenant.delete()


def recall_rows(found: Sequence[Found], ks: Sequence[int]) -> list[Row]:
    """A row a way and k, with 95% intervals, paired for the difference to the vectors alone.

    Questions without evidence that any fact was taken from do not count. Raises BenchError when there are no others.
    """
    rows: list[Row] = []
    for way, k in product(WAYS, ks):
        pairs = [(each.recall(way, k), each.recall("dense", k)) for each in found]
        shares = [(ours, dense) for ours, dense in pairs if ours is not None and dense is not None]
        if not shares:
            raise BenchError("no question has evidence that a fact was taken from")
        recall, *interval = mean_estimate([ours for ours, _ in shares]).as_json()
        row: Row = {"kind": "recall", "mode": way, "k": k, "questions": len(shares), "recall": recall}
        row |= {"interval": interval, "minus_dense": mean_estimate([ours - dense for ours, dense in shares]).as_json()}
        rows.append(row)
    return rows


def _store(tenant: Tenant, conversation: Conversation, dim: int) -> tuple[Owner, dict[UUID, int], Snapshot]:
    scopes = Scopes(user_id=conversation.name)
    places: dict[UUID, int] = {}
    for at in range(0, len(conversation.facts), MOST_MESSAGES):
        messages = [Message("user", fact.text) for fact in conversation.facts[at : at + MOST_MESSAGES]]
        added = facts_add(tenant=tenant, scopes=scopes, messages=messages).facts
        for place, entry in enumerate(added, start=at):
            places.setdefault(entry.fact.pk, place)
    owner = owner_get(tenant=tenant, scopes=scopes)
    assert owner is not None
    snapshot = Snapshot(dim)
    rows = fact_delta(owner_id=owner.pk, after_seq=-1, embedding_model=tenant.embedding_model)
    snapshot.apply(rows, seq=owner.change_seq, header=None, line=fact_line)
    return owner, places, snapshot


def _search(owner: Owner, places: dict[UUID, int], snapshot: Snapshot, question: str) -> dict[str, list[int]]:
    by_words = facts_by_words(owner=owner, question=question, limit=len(places))
    vector, now = embed_query(question, model=settings.ENV.embedding_model), timezone.now()

    def chosen(words: Sequence[UUID]) -> list[int]:
        scopes = Scopes(user_id=owner.name)
        found = find_facts(snapshot, scopes=scopes, query=vector, most=len(places), now=now, by_words=words)
        return [places[entry.fact_id] for entry in reversed(choose_facts(found, top_k=len(places)).entries)]

    return {"dense": chosen(()), "lexical": [places[fact_id] for fact_id in by_words], "hybrid": chosen(by_words)}
