"""Invitations: a link that makes whoever opens it a member, once."""

import secrets
from datetime import timedelta
from hashlib import sha256

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from tenants.audit import audit_record
from tenants.models import Invitation, Membership, Role, Tenant
from tenants.scope import every_tenant, tenant_scope
from tenants.services import membership_set

LIFE = timedelta(days=7)


class InvitationOverError(LookupError):
    """Unknown, accepted, withdrawn or expired: who asks need not know which."""


def invitation_is_open() -> Q:
    return Q(accepted_at=None, withdrawn_at=None, expires_at__gt=timezone.now(), tenant__is_active=True)


def invitations_open(*, tenant: Tenant) -> QuerySet[Invitation]:
    """Newest first."""
    with tenant_scope(tenant):
        return Invitation.objects.filter(invitation_is_open()).order_by("-created_at", "-pk")


def invitation_get(*, token: str) -> Invitation | None:
    """The open invitation behind a link."""
    with every_tenant():  # the token is what says whose it is
        found = Invitation.objects.select_related("tenant").filter(invitation_is_open(), hash=_hash(token))
        return found.first()


@transaction.atomic
def invitation_create(*, tenant: Tenant, role: str, email: str, actor: str) -> tuple[Invitation, str]:
    """The invitation and its token, which cannot be had again. Raises ValueError on a role that is not one."""
    if role not in Role.values:
        raise ValueError(f"role must be one of {', '.join(Role.values)}, not {role!r}")
    token = secrets.token_urlsafe(32)
    with tenant_scope(tenant):
        invitation = Invitation.objects.create(
            tenant=tenant,
            role=role,
            email=email,
            hash=_hash(token),
            expires_at=timezone.now() + LIFE,
            created_by=actor,
        )
    details = {"role": role, "email": email}
    audit_record(tenant=tenant, actor=actor, action="invitation.create", target=invitation.pk, details=details)
    return invitation, token


@transaction.atomic
def invitation_withdraw(*, invitation: Invitation, actor: str) -> bool:
    """False when it was over already."""
    with tenant_scope(invitation.tenant):
        unused = Invitation.objects.filter(pk=invitation.pk, accepted_at=None, withdrawn_at=None)
        withdrawn = unused.update(withdrawn_at=timezone.now()) == 1
    if withdrawn:
        audit_record(tenant=invitation.tenant, actor=actor, action="invitation.withdraw", target=invitation.pk)
    return withdrawn


@transaction.atomic
def invitation_accept(*, token: str, user: User) -> Membership:
    """Who is a member already keeps the higher of the two roles. Raises InvitationOverError."""
    invitation = invitation_get(token=token)
    if invitation is None:
        raise InvitationOverError
    tenant = invitation.tenant
    with tenant_scope(tenant):
        still_open = Invitation.objects.filter(invitation_is_open(), pk=invitation.pk)
        if not still_open.update(accepted_at=timezone.now()):
            raise InvitationOverError
        before = Membership.objects.filter(user=user).first()
        membership = before or membership_set(tenant=tenant, user=user, role=invitation.role)
        if before and _rank(invitation.role) > _rank(before.role):
            membership = membership_set(tenant=tenant, user=user, role=invitation.role)
    audit_record(
        tenant=tenant,
        actor=f"user:{user.get_username()}",
        action="invitation.accept",
        target=invitation.pk,
        details={"role": membership.role},
    )
    return membership


def _rank(role: str) -> int:
    return (Role.VIEWER, Role.ADMIN, Role.OWNER).index(Role(role))


def _hash(token: str) -> str:
    return sha256(token.encode(errors="surrogatepass")).hexdigest()
