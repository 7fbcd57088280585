"""Writes on tenants, members and API keys."""

import secrets
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from config.values import STRATEGY, STRATEGY_FORMS
from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone
from django.utils.text import slugify

from tenants.audit import audit_record
from tenants.keys import SHOWN_CHARACTERS, key_hash, new_key
from tenants.models import ApiKey, KeyScope, Membership, ProjectSettings, Quota, Role, Tenant, default_key_scopes
from tenants.scope import tenant_scope

SLUG_LENGTH = 64


def tenant_create(*, name: str, slug: str | None = None, strategy: str | None = None) -> Tenant:
    """Raises ValueError on a blank name or a malformed strategy, IntegrityError on a slug that is taken.

    Without one, it is made of the name.
    """
    _check_name_and_strategy(name, strategy)
    name = name.strip()
    fields: dict[str, Any] = {} if strategy is None else {"strategy": strategy}
    return Tenant.objects.create(name=name, slug=slug or _free_slug(name), **fields)


@transaction.atomic
def tenant_found(*, name: str, owner: User, slug: str | None = None, strategy: str | None = None) -> Tenant:
    """A tenant with its first owner. Raises as `tenant_create` does."""
    tenant = tenant_create(name=name, slug=slug, strategy=strategy)
    membership_set(tenant=tenant, user=owner, role=Role.OWNER)
    actor = f"user:{owner.get_username()}"
    audit_record(tenant=tenant, actor=actor, action="tenant.create", target=tenant.pk, details={"name": tenant.name})
    return tenant


@transaction.atomic
def tenant_update(*, tenant: Tenant, name: str, strategy: str, actor: str) -> Tenant:
    """Another strategy has all facts encoded anew. Raises ValueError on a blank name or a malformed strategy."""
    _check_name_and_strategy(name, strategy)
    changes = {"name": name.strip(), "strategy": strategy}
    changes = {field: value for field, value in changes.items() if getattr(tenant, field) != value}
    if changes:
        Tenant.objects.filter(pk=tenant.pk).update(**changes)
        audit_record(tenant=tenant, actor=actor, action="tenant.update", target=tenant.pk, details=changes)
        tenant.refresh_from_db()
    return tenant


def membership_set(*, tenant: Tenant, user: User, role: str) -> Membership:
    """Raises ValueError on a role that is not one."""
    if role not in Role.values:
        raise ValueError(f"role must be one of {', '.join(Role.values)}, not {role!r}")
    with tenant_scope(tenant):
        membership, _ = Membership.objects.update_or_create(tenant=tenant, user=user, defaults={"role": role})
    return membership


@transaction.atomic
def api_key_create(
    *,
    tenant: Tenant,
    name: str,
    scopes: Sequence[str] | None = None,
    expires_at: datetime | None = None,
    user_field_enables_memory: bool | None = None,
    requests_per_minute: int | None = None,
    actor: str = "",
) -> tuple[ApiKey, str]:
    """The key's record and the key itself, which cannot be had again. Raises ValueError on an unknown scope."""
    chosen = default_key_scopes() if scopes is None else sorted(set(scopes))
    if not chosen or not set(chosen) <= set(KeyScope.values):
        raise ValueError(f"scopes must be some of {', '.join(KeyScope.values)}")
    if user_field_enables_memory is None:
        user_field_enables_memory = settings.ENV.user_field_enables_memory
    raw = new_key(tenant.pk)
    api_key = ApiKey.objects.create(
        tenant=tenant,
        name=name,
        prefix=raw[:SHOWN_CHARACTERS],
        hash=key_hash(raw),
        scopes=chosen,
        expires_at=expires_at,
        user_field_enables_memory=user_field_enables_memory,
        requests_per_minute=requests_per_minute,
    )
    made = {"name": name, "prefix": api_key.prefix, "scopes": chosen}
    audit_record(tenant=tenant, actor=actor, action="key.create", target=api_key.pk, details=made)
    return api_key, raw


@transaction.atomic
def api_key_revoke(*, api_key: ApiKey, actor: str = "") -> None:
    """Takes effect with the next request; revoking twice keeps the first time."""
    with tenant_scope(api_key.tenant):
        revoked = ApiKey.objects.filter(pk=api_key.pk, revoked_at=None).update(revoked_at=timezone.now())
        api_key.refresh_from_db()
    if revoked:
        audit_record(tenant=api_key.tenant, actor=actor, action="key.revoke", target=api_key.pk)


def membership_remove(*, tenant: Tenant, user: User) -> bool:
    """Whether the user was a member."""
    with tenant_scope(tenant):
        return bool(Membership.objects.filter(user=user).delete()[0])


@transaction.atomic
def project_settings_update(*, tenant: Tenant, changes: dict[str, Any], actor: str) -> ProjectSettings:
    """Only the fields named in `changes`; the settings as they are now."""
    with tenant_scope(tenant):
        settings, _ = ProjectSettings.objects.update_or_create(
            tenant=tenant, defaults={**changes, "updated_at": timezone.now()}
        )
    audit_record(tenant=tenant, actor=actor, action="project.update", details={"fields": sorted(changes)})
    return settings


@transaction.atomic
def quota_set(*, tenant: Tenant, limits: dict[str, int | None], actor: str) -> Quota:
    """Only the limits named; None takes one away. The quota as it is now."""
    with tenant_scope(tenant):
        quota, _ = Quota.objects.update_or_create(tenant=tenant, defaults={**limits, "updated_at": timezone.now()})
    audit_record(tenant=tenant, actor=actor, action="quota.set", details=limits)
    return quota


@transaction.atomic
def tenant_close(*, tenant: Tenant, actor: str) -> None:
    """Its keys work no more. Nothing is erased: staff open it again or delete it."""
    Tenant.objects.filter(pk=tenant.pk).update(is_active=False)
    audit_record(tenant=tenant, actor=actor, action="project.close", target=tenant.pk)


@transaction.atomic
def tenant_reopen(*, tenant: Tenant, actor: str) -> None:
    """Its keys work again, but for those revoked or expired. What staff had deleted stays closed."""
    if Tenant.objects.filter(pk=tenant.pk, deleted_at=None).update(is_active=True):
        audit_record(tenant=tenant, actor=actor, action="project.reopen", target=tenant.pk)


def _free_slug(name: str) -> str:
    slug, unique = slugify(name)[:SLUG_LENGTH], secrets.token_hex(4)
    if slug and not Tenant.objects.filter(slug=slug).exists():
        return slug
    return f"{(slug or 'tenant')[: SLUG_LENGTH - len(unique) - 1]}-{unique}"


def _check_name_and_strategy(name: str, strategy: str | None) -> None:
    if not name.strip():
        raise ValueError("a tenant's name must contain text")
    if strategy is not None and not STRATEGY.fullmatch(strategy):
        raise ValueError(f"strategy must be {STRATEGY_FORMS}, not {strategy!r}")
