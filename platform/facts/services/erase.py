"""Erasing all that is known of a user, agent, app or run."""

from collections import defaultdict
from uuid import UUID

from django.db import transaction
from django.db.models import Q, QuerySet
from tenants.models import Tenant
from tenants.scope import tenant_scope

from facts.inputs import DeleteResult
from facts.models import Extraction, Fact, FactHistory, FactStatus, Feedback, Owner, OwnerKind, Profile, Summary, Turn
from facts.scopes import Scopes
from facts.services.change import drop_stale_on_commit, encode_on_commit, mark_stale, owner_touch
from facts.services.delete import facts_delete


def entity_erase(*, tenant: Tenant, kind: str, name: str, actor: str = "") -> DeleteResult:
    """Its memories are deleted, and no text of theirs is kept: not in history, turns, feedback, profile, nor in
    deleted rows.

    Raises InvalidInputError on a name that cannot be one.
    """
    scopes = Scopes(**{f"{kind}_id": name})
    with tenant_scope(tenant), transaction.atomic():
        owners = Owner.objects.select_for_update(no_key=True).filter(kind=kind, name=name)
        own = [owner.pk for owner in owners]
        deleted = facts_delete(tenant=tenant, scopes=scopes, actor=actor, event_type="DELETE_ENTITY")
        gone = Fact.objects.filter(status=FactStatus.DELETED, **scopes.named)
        ids = list(gone.values_list("pk", flat=True))
        FactHistory.objects.filter(fact_id__in=ids).delete()
        Feedback.objects.filter(fact_id__in=ids).delete()
        asked = Extraction.objects.filter(Q(owner_id__in=own) | Q(**scopes.named))
        said = Q(owner_id__in=own) | Q(facts__in=ids) | Q(event__extraction__in=asked)
        if kind == OwnerKind.RUN:
            said |= Q(run_id=name)
        _turns_delete(Turn.objects.filter(said))
        asked.delete()
        Summary.objects.all().delete()
        if kind == OwnerKind.USER:
            Profile.objects.filter(user_id=name).delete()
        gone.update(text="", hash="", claim_key="", metadata={}, categories=[], embedding=None)
    return deleted


def _turns_delete(turns: QuerySet[Turn]) -> None:
    """With the KV of others' facts that was computed from them."""
    by_owner = defaultdict[int, list[UUID]](list)
    for turn_id, owner_id in turns.values_list("pk", "owner_id").distinct():
        by_owner[owner_id].append(turn_id)
    for owner in Owner.objects.select_for_update(no_key=True).filter(pk__in=by_owner).order_by("pk"):
        turn_ids = by_owner[owner.pk]
        stale = mark_stale(owner, (), turn_ids=turn_ids, seq=owner_touch(owner, erases=True))
        encode_on_commit(owner, stale.dependents)
        drop_stale_on_commit(owner)
        Turn.objects.filter(pk__in=turn_ids).delete()
