"""A query of tenant-owned rows without a tenant raises: nothing leaks by a forgotten filter."""

from collections.abc import Callable
from typing import Any

import pytest
from django.apps import apps
from django.db.models import Manager
from django_scopes.exceptions import ScopeError
from facts.models import Fact
from tenants.models import ApiKey, Tenant
from tenants.scope import TenantManager, every_tenant, tenant_scope
from usage.models import RollUpMark, TierSample

from tests.factories import add_facts, people_create

OURS = ("tenants", "facts", "usage")
THE_PLATFORMS = (Tenant, TierSample, RollUpMark)
OWNED = [model for label in OURS for model in apps.get_app_config(label).get_models() if model not in THE_PLATFORMS]
QUERIES: list[Callable[[Manager[Any]], Any]] = [
    lambda objects: list(objects.all()),
    lambda objects: objects.count(),
    lambda objects: objects.exists(),
    lambda objects: objects.first(),
    lambda objects: objects.filter(pk=1),
    lambda objects: objects.exclude(pk=1),
    lambda objects: objects.get(pk=1),
    lambda objects: objects.in_bulk([1]),
    lambda objects: objects.values_list("pk"),
    lambda objects: objects.update(pk=1),
    lambda objects: objects.select_related("tenant"),
    lambda objects: objects.get_or_create(pk=1),
    lambda objects: objects.raw("SELECT 1"),
    lambda objects: list(objects.using("default")),
]


@pytest.mark.parametrize("model", OWNED, ids=lambda model: model.__name__)
def test_every_tenant_owned_model_has_the_scoped_manager(model: Any) -> None:
    assert isinstance(model._default_manager, TenantManager)


@pytest.mark.django_db
@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("model", [ApiKey, Fact])
def test_a_query_without_a_tenant_raises(model: Any, query: Callable[[Manager[Any]], Any]) -> None:
    with pytest.raises(ScopeError, match="tenant_scope"):
        query(model.objects)


@pytest.mark.django_db
def test_inside_a_scope_only_its_tenants_rows_are_there() -> None:
    people = people_create()
    mine, theirs = add_facts(people.tenant, "mine")[0], add_facts(people.other_tenant, "theirs")[0]
    with tenant_scope(people.tenant):
        assert list(Fact.objects.all()) == [mine]
        assert not Fact.objects.filter(pk=theirs.pk).exists()
        assert Fact.objects.filter(pk=theirs.pk).update(text="seized") == 0
    with every_tenant():
        assert set(Fact.objects.all()) == {mine, theirs}


@pytest.mark.django_db
def test_a_scope_ends_with_its_block_and_the_inner_one_counts() -> None:
    people = people_create()
    add_facts(people.other_tenant, "theirs")
    with tenant_scope(people.tenant):
        with tenant_scope(people.other_tenant):
            assert Fact.objects.count() == 1
        assert Fact.objects.count() == 0
    with pytest.raises(ScopeError):
        Fact.objects.count()


@pytest.mark.django_db
def test_a_scope_of_no_tenant_is_no_scope() -> None:
    nobody: Any = None
    with tenant_scope(nobody), pytest.raises(ScopeError):
        Fact.objects.count()
