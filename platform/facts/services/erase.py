"""Erasing all that is known of a user, agent, app or run."""

from django.db import transaction
from django.db.models import Q
from tenants.models import Tenant
from tenants.scope import tenant_scope

from facts.inputs import DeleteResult
from facts.models import Extraction, Fact, FactHistory, FactStatus, Feedback, Owner, OwnerKind, Profile, Turn
from facts.scopes import Scopes
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
        Extraction.objects.filter(owner_id__in=own).delete()
        if kind == OwnerKind.USER:
            Profile.objects.filter(user_id=name).delete()
        turns = Turn.objects.filter(Q(owner_id__in=own) | Q(facts__in=ids))
        Turn.objects.filter(pk__in=list(turns.values_list("pk", flat=True))).delete()
        gone.update(text="", hash="", claim_key="", metadata={}, categories=[], embedding=None)
    return deleted
