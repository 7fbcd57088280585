"""What was found out about encodings that might be made better."""

from collections.abc import Collection
from datetime import datetime

from django.db.models import F
from django.utils import timezone
from tenants.scope import tenant_scope

from facts.models import Encoding, EncodingState, Owner
from facts.services.change import owner_locked


def encodings_note_checked(*, ids: Collection[int], at: datetime) -> None:
    """No fact stored until then makes their contexts much better. Runs in the tenant's scope."""
    Encoding.objects.filter(pk__in=ids).update(checked_at=at)


def owner_note_checked(*, owner: Owner, seq: int) -> None:
    """Nothing that had changed by `seq` makes any encoding better. Runs in the tenant's scope."""
    Owner.objects.filter(pk=owner.pk).update(checked_seq=seq)


def refinement_give_up(*, encoding: Encoding) -> None:
    """It will not take the place of the one that is served, which counts it as a refresh."""
    with tenant_scope(encoding.tenant), owner_locked(encoding.owner_id):
        pending = Encoding.objects.filter(pk=encoding.pk, state=EncodingState.PENDING)
        if pending.update(state=EncodingState.STALE, updated_at=timezone.now()):
            served = Encoding.objects.filter(
                fact=encoding.fact, fingerprint=encoding.fingerprint, state=EncodingState.READY
            )
            served.update(refreshes=F("refreshes") + 1, checked_at=timezone.now())
