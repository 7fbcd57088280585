"""Profiles of users: a short text made of what is remembered about them."""

from collections.abc import Sequence

from django.db import transaction
from django.db.models import F
from django.utils import timezone
from tenants.models import Tenant
from tenants.scope import tenant_scope
from tenants.selectors import project_settings

from facts.models import Profile, ProfileStatus
from facts.scopes import Scopes
from facts.selectors import facts_matching
from facts.summary import summarise

NEEDS_MODEL = "A profile with a schema or instructions needs a model, which this server does not use yet."
READ = 200


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


def profile_make(*, tenant: Tenant, user_id: str) -> ProfileStatus:
    """The newest memories, a line each. What became of it."""
    settings = project_settings(tenant=tenant)
    with tenant_scope(tenant), transaction.atomic():
        # Under the row's lock: an erasure that comes in between takes the profile away, and none is made again.
        profile = Profile.objects.select_for_update().filter(user_id=user_id).first()
        if profile is None:
            return ProfileStatus.INSUFFICIENT
        changes: dict[str, object] = {"updated_at": timezone.now(), "error": ""}
        if settings.profile_schema is not None or settings.profile_instructions:
            status = ProfileStatus.FAILED
            changes |= {"error": NEEDS_MODEL}
        else:
            facts = facts_matching(tenant=tenant, scopes=Scopes(user_id=user_id)).defer("embedding")[:READ]
            text = summarise(facts)
            status = ProfileStatus.SUCCEEDED if text else ProfileStatus.INSUFFICIENT
            changes |= {"text": text, "generation_count": F("generation_count") + (1 if text else 0)}
        Profile.objects.filter(pk=profile.pk).update(status=status, **changes)
    return status
