"""Members of a tenant, by their account or its address. A tenant is never left without an owner."""

from django.contrib.auth.models import User
from django.db import transaction

from tenants.audit import audit_record
from tenants.models import Membership, Role, Tenant
from tenants.scope import tenant_scope
from tenants.services import membership_remove, membership_set


class NoSuchMemberError(LookupError):
    """No account has that address, or it is no member."""


class LastOwnerError(ValueError):
    """The change would leave the tenant without an owner."""


@transaction.atomic
def member_set(*, tenant: Tenant, email: str, role: str, actor: str, joins: bool) -> Membership:
    """Let an account join, or change a member's role. Raises NoSuchMemberError, LastOwnerError."""
    user = _account(email)
    member = _locked(tenant, user)
    if member is None and not joins:
        raise NoSuchMemberError(f"{email} is not a member.")
    return _set(tenant, user, member, role, actor=actor, target=email)


@transaction.atomic
def member_remove(*, tenant: Tenant, email: str, actor: str) -> None:
    """Raises NoSuchMemberError, LastOwnerError."""
    member = _locked(tenant, _account(email))
    if member is None:
        raise NoSuchMemberError(f"{email} is not a member.")
    _remove(tenant, member, actor=actor, target=email)


@transaction.atomic
def member_role_set(*, tenant: Tenant, user: User, role: str, actor: str) -> Membership:
    """Of somebody who is a member. Raises NoSuchMemberError, LastOwnerError."""
    member = _locked(tenant, user)
    if member is None:
        raise NoSuchMemberError(f"{user.get_username()} is not a member.")
    return _set(tenant, user, member, role, actor=actor, target=user.get_username())


@transaction.atomic
def member_dismiss(*, tenant: Tenant, user: User, actor: str) -> None:
    """Raises NoSuchMemberError, LastOwnerError."""
    member = _locked(tenant, user)
    if member is None:
        raise NoSuchMemberError(f"{user.get_username()} is not a member.")
    _remove(tenant, member, actor=actor, target=user.get_username())


def _set(tenant: Tenant, user: User, member: Membership | None, role: str, *, actor: str, target: str) -> Membership:
    if role != Role.OWNER:
        _keep_an_owner(tenant, member)
    membership = membership_set(tenant=tenant, user=user, role=role)
    audit_record(tenant=tenant, actor=actor, action="member.set", target=target, details={"role": role})
    return membership


def _remove(tenant: Tenant, member: Membership, *, actor: str, target: str) -> None:
    _keep_an_owner(tenant, member)
    membership_remove(tenant=tenant, user=member.user)
    audit_record(tenant=tenant, actor=actor, action="member.remove", target=target)


def _account(email: str) -> User:
    """Addresses are what the platform's staff gave accounts."""
    users = list(User.objects.filter(email__iexact=email, is_active=True)[:2]) if email else []
    if not users:
        raise NoSuchMemberError(f"No account has the address {email}. The platform's staff make accounts.")
    if len(users) > 1:
        raise NoSuchMemberError(f"Several accounts have the address {email}. The platform's staff can tell them apart.")
    return users[0]


def _locked(tenant: Tenant, user: User) -> Membership | None:
    """Under the tenant's row, so that of two owners who leave at once one stays."""
    Tenant.objects.select_for_update(no_key=True).get(pk=tenant.pk)
    with tenant_scope(tenant):
        return Membership.objects.filter(user=user).first()


def _keep_an_owner(tenant: Tenant, leaving: Membership | None) -> None:
    if leaving is None or leaving.role != Role.OWNER:
        return
    with tenant_scope(tenant):
        if not Membership.objects.filter(role=Role.OWNER).exclude(pk=leaving.pk).exists():
            raise LastOwnerError("This is the last owner: make another member an owner first.")
