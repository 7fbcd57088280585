"""What people may do: a member by its role in a tenant, staff everything in every tenant."""

from dataclasses import dataclass
from enum import IntEnum

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, User
from django.db.models import QuerySet

from tenants.models import Membership, Role, Tenant
from tenants.scope import every_tenant


class Power(IntEnum):
    """Each may do what those before it may. Viewers look, admins change what a tenant has, owners who has it."""

    VIEWER = 1
    ADMIN = 2
    OWNER = 3
    STAFF = 4


POWERS = {Role.VIEWER: Power.VIEWER, Role.ADMIN: Power.ADMIN, Role.OWNER: Power.OWNER}


@dataclass(frozen=True, slots=True)
class Access:
    """A person's in one tenant."""

    user: User
    tenant: Tenant
    power: Power

    @property
    def role(self) -> str:
        return self.power.name.lower()

    @property
    def actor(self) -> str:
        """As the audit trail names people."""
        return f"user:{self.user.get_username()}"

    @property
    def may_change(self) -> bool:
        return self.power >= Power.ADMIN

    @property
    def owns(self) -> bool:
        return self.power >= Power.OWNER


def tenants_of(user: AbstractBaseUser | AnonymousUser) -> QuerySet[Tenant]:
    """Those that the person may look at, closed ones too but none that is deleted, by name."""
    if not isinstance(user, User) or not user.is_active:
        return Tenant.objects.none()
    tenants = Tenant.objects.filter(deleted_at=None).order_by("name", "pk")
    if user.is_staff:
        return tenants
    with every_tenant():  # whose memberships they are is the point
        return tenants.filter(pk__in=Membership.objects.filter(user=user).values("tenant_id"))


def access_get(*, user: AbstractBaseUser | AnonymousUser, slug: str) -> Access | None:
    """None where there is no such tenant, where it is deleted, and where it is none of the person's."""
    if not isinstance(user, User) or not user.is_active:
        return None
    tenant = Tenant.objects.filter(slug=slug, deleted_at=None).first()
    if tenant is None:
        return None
    if user.is_staff:
        return Access(user, tenant, Power.STAFF)
    with every_tenant():
        membership = Membership.objects.filter(user=user, tenant=tenant).first()
    return Access(user, tenant, POWERS[Role(membership.role)]) if membership else None
