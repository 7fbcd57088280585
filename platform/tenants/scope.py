"""Tenant scope, fail-closed: without a scope every query of a tenant-owned model raises ScopeError."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from django.db import models
from django_scopes import get_scope, scope, scopes_disabled
from django_scopes.exceptions import ScopeError
from django_scopes.manager import DisabledQuerySet

if TYPE_CHECKING:
    from tenants.models import Tenant

M = TypeVar("M", bound=models.Model)


@contextmanager
def tenant_scope(tenant: "Tenant") -> Iterator[None]:
    """Queries inside see this tenant's rows only."""
    with scope(tenant=tenant):
        yield


@contextmanager
def every_tenant() -> Iterator[None]:
    """The one escape hatch: queries inside see all tenants' rows. Grep for its name."""
    with scopes_disabled():
        yield


class ClosedQuerySet(DisabledQuerySet):  # type: ignore[misc]  # the library has no types
    """Also closes what django-scopes leaves open, `exists` above all."""

    def refuse(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise ScopeError(f"{self.model.__name__} belongs to tenants: open tenant_scope(tenant) before this query.")

    error = refuse
    exists = contains = in_bulk = exclude = alias = bulk_update = select_related = prefetch_related = refuse
    __bool__ = __getitem__ = __iter__ = __len__ = all = aggregate = annotate = count = earliest = refuse
    complex_filter = select_for_update = filter = first = get = get_or_create = update_or_create = refuse
    delete = dates = datetimes = iterator = last = latest = only = defer = order_by = reverse = union = refuse
    update = raw = values = values_list = distinct = intersection = difference = extra = explain = refuse


class TenantManager(models.Manager[M]):
    """Default manager of every tenant-owned model, over django-scopes' current scope."""

    def get_queryset(self) -> models.QuerySet[M]:
        current = get_scope()
        if not current.get("_enabled", True):
            return super().get_queryset()
        tenant = current.get("tenant")
        if tenant is None:
            return ClosedQuerySet(self.model, using=self._db, missing_scopes={"tenant"})
        return super().get_queryset().filter(tenant=tenant)

    def all(self) -> models.QuerySet[M]:
        queryset = self.get_queryset()
        return queryset.all() if isinstance(queryset, DisabledQuerySet) else queryset
