"""Facts as people look through them: filtered, with how far their encoding is and what it was made from."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from uuid import UUID

from django.contrib.postgres.search import SearchQuery
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone
from tenants.models import Tenant
from tenants.scope import tenant_scope

from facts.models import Encoding, EncodingState, Fact, FactStatus, Turn
from facts.models.fact import WORDS_LANGUAGE
from facts.selectors.facts import not_expired

SETTLED = (EncodingState.READY, EncodingState.FAILED)


@dataclass(frozen=True, slots=True)
class FactFilter:
    """`words` are searched for as web searches are, with "phrases" and -exclusions; `names` are scopes by their field.

    `encoding` is ready, waiting or failed; `status` active, expired or superseded. '' means any.
    """

    words: str = ""
    names: Mapping[str, str] = field(default_factory=dict)
    category: str = ""
    encoding: str = ""
    status: str = FactStatus.ACTIVE


def facts_browse(*, tenant: Tenant, chosen: FactFilter) -> QuerySet[Fact]:
    """Newest first; never deleted ones, whose text may be gone."""
    with tenant_scope(tenant):
        facts = Fact.objects.filter(facts_condition(chosen)).defer("embedding").order_by("-created_at", "-pk")
        return facts.exclude(status=FactStatus.DELETED)


def facts_condition(chosen: FactFilter) -> Q:
    """In the tenant's scope."""
    condition = _of_status(chosen.status) & Q(**chosen.names)
    if chosen.words:
        condition &= Q(words=SearchQuery(chosen.words, config=WORDS_LANGUAGE, search_type="websearch"))
    if chosen.category:
        condition &= Q(categories__contains=[chosen.category])
    return condition & _of_encoding(chosen.encoding)


def encodings_of(*, tenant: Tenant, fact_ids: Collection[UUID]) -> dict[UUID, Encoding]:
    """By fact, the one that is served, else the one that is made or was given up."""
    order = {EncodingState.FAILED: 0, EncodingState.PENDING: 1, EncodingState.READY: 2}
    with tenant_scope(tenant):
        found = Encoding.objects.filter(fact_id__in=fact_ids).exclude(state=EncodingState.STALE)
        ranked = sorted(found, key=lambda encoding: (order[EncodingState(encoding.state)], encoding.pk))
    return {encoding.fact_id: encoding for encoding in ranked if encoding.fact_id}


def fact_look(*, tenant: Tenant, fact_id: UUID) -> Fact | None:
    """Also an expired or superseded one; None for a deleted, unknown or another tenant's."""
    with tenant_scope(tenant):
        facts = Fact.objects.exclude(status=FactStatus.DELETED).defer("embedding")
        related = facts.select_related("tenant", "owner", "source_turn", "source_event", "superseded_by")
        return related.filter(pk=fact_id).first()


def facts_look(*, tenant: Tenant, fact_ids: Collection[UUID]) -> dict[UUID, Fact]:
    """Those that are not deleted, by id, as they are now."""
    with tenant_scope(tenant):
        return Fact.objects.exclude(status=FactStatus.DELETED).defer("embedding").in_bulk(list(fact_ids))


def turns_around(*, fact: Fact) -> list[Turn]:
    """What was said in the call that brought the fact, in its order; the one turn where the call is not known."""
    with tenant_scope(fact.tenant):
        if fact.source_event_id is None:
            return [fact.source_turn] if fact.source_turn else []
        return list(Turn.objects.filter(event_id=fact.source_event_id).order_by("created_at", "pk"))


def encoding_context(*, encoding: Encoding) -> tuple[list[Fact], list[Turn]]:
    """Facts and turns that it was computed behind, in their order, as they are now; without those that are gone."""
    with tenant_scope(encoding.tenant):
        facts = Fact.objects.defer("embedding").in_bulk(encoding.context_fact_ids)
        turns = Turn.objects.in_bulk(encoding.context_turn_ids)
    return (
        [facts[fact_id] for fact_id in encoding.context_fact_ids if fact_id in facts],
        [turns[turn_id] for turn_id in encoding.context_turn_ids if turn_id in turns],
    )


def categories_known(*, tenant: Tenant, most: int = 100) -> list[str]:
    """Of the newest facts that have any."""
    with tenant_scope(tenant):
        newest = Fact.objects.exclude(categories=[]).order_by("-created_at").values_list("categories", flat=True)[:1000]
        return sorted({name for names in newest for name in names})[:most]


def _of_status(status: str) -> Q:
    if status == "expired":
        return Q(status=FactStatus.ACTIVE, expires_at__lte=timezone.now())
    if status == FactStatus.ACTIVE:
        return Q(status=FactStatus.ACTIVE) & not_expired()
    return Q(status=status) if status else Q()


def _of_encoding(state: str) -> Q:
    own = Encoding.objects.filter(fact_id=OuterRef("pk"))
    match state:
        case "ready":
            return Q(Exists(own.filter(state=EncodingState.READY)))
        case "failed":
            return Q(Exists(own.filter(state=EncodingState.FAILED))) & ~Q(Exists(own.filter(state=EncodingState.READY)))
        case "waiting":
            return ~Q(Exists(own.filter(state__in=SETTLED)))
    return Q()
