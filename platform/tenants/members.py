"""Members of a tenant, by the address of their account. A tenant is never left without an owner."""

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q

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
    if role != Role.OWNER:
        _keep_an_owner(tenant, member)
    membership = membership_set(tenant=tenant, user=user, role=role)
    audit_record(tenant=tenant, actor=actor, action="member.set", target=email, details={"role": role})
    return membership


@transaction.atomic
def member_remove(*, tenant: Tenant, email: str, actor: str) -> None:
    """Raises NoSuchMemberError, LastOwnerError."""
    user = _account(email)
    member = _locked(tenant, user)
    if member is None:
        raise NoSuchMemberError(f"{email} is not a member.")
    _keep_an_owner(tenant, member)
    membership_remove(tenant=tenant, user=user)
    audit_record(tenant=tenant, actor=actor, action="member.remove", target=email)


def _account(email: str) -> User:
    user = User.objects.filter(Q(email__iexact=email), is_active=True).order_by("pk").first() if email else None
    if user is None:
        raise NoSuchMemberError(f"No account has the address {email}. The platform's staff make accounts.")
    return user


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
