"""Profiles of users: a short text that a model makes of all that is remembered about them."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone
from tenants.models import Tenant
from tenants.scope import tenant_scope

from facts.models import Owner, OwnerKind, Profile, ProfileStatus
from facts.scopes import Scopes
from facts.selectors import facts_matching


@dataclass(frozen=True, slots=True)
class ProfileSource:
    """What a profile is made of, the oldest first. `epoch` moves once any of it is changed or erased."""

    owner_id: int
    epoch: int
    texts: tuple[str, ...]


def profile_get(*, tenant: Tenant, user_id: str) -> Profile | None:
    with tenant_scope(tenant):
        return Profile.objects.filter(user_id=user_id).first()


@transaction.atomic
def profiles_ask(*, tenant: Tenant, user_ids: Sequence[str]) -> None:
    """They are pending from here on."""
    with tenant_scope(tenant):
        asked = [Profile(tenant=tenant, user_id=user_id) for user_id in user_ids]
        Profile.objects.bulk_create(asked, ignore_conflicts=True)
        Profile.objects.filter(user_id__in=user_ids).update(status=ProfileStatus.PENDING, error="")


def profile_source(*, tenant: Tenant, user_id: str) -> ProfileSource:
    """All that holds now and names the user. Without texts when there is nothing."""
    with tenant_scope(tenant):
        owner = _user(user_id).first()  # before the facts: they are of its epoch, or of a later one
        facts = facts_matching(tenant=tenant, scopes=Scopes(user_id=user_id)).order_by("created_at", "pk")
        texts = tuple(facts.values_list("text", flat=True)) if owner else ()
    return ProfileSource(owner.pk if owner else 0, owner.erasure_epoch if owner else 0, texts)


def profile_tell(*, tenant: Tenant, user_id: str, source: ProfileSource, text: str) -> ProfileStatus | None:
    """What became of it; None, and nothing stored, when the source has been changed or erased meanwhile."""
    with tenant_scope(tenant), transaction.atomic():
        owner = _user(user_id).select_for_update(no_key=True).first()
        if (owner.erasure_epoch if owner else 0) != source.epoch:
            return None
        # An erasure that came in between has taken the profile away, and none is made again.
        asked = Profile.objects.filter(user_id=user_id)
        status = ProfileStatus.SUCCEEDED if text else ProfileStatus.INSUFFICIENT
        made = F("generation_count") + (1 if text else 0)
        found = asked.update(text=text, status=status, error="", generation_count=made, updated_at=timezone.now())
    return status if found else ProfileStatus.INSUFFICIENT


def profile_fail(*, tenant: Tenant, user_id: str, reason: str) -> None:
    """The text of the last one that was made stays."""
    with tenant_scope(tenant):
        asked = Profile.objects.filter(user_id=user_id)
        asked.update(status=ProfileStatus.FAILED, error=reason, updated_at=timezone.now())


def _user(user_id: str) -> QuerySet[Owner]:
    return Owner.objects.filter(kind=OwnerKind.USER, name=user_id)
