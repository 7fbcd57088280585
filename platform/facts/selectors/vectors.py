"""Reads on the vectors that a change of the embedding model prepares."""

from typing import NamedTuple

from django.db.models import Exists, OuterRef, QuerySet
from tenants.models import Tenant
from tenants.scope import tenant_scope

from facts.models import ComingVector, Fact, FactStatus


class Prepared(NamedTuple):
    done: int
    total: int


def facts_without_coming(model: str) -> QuerySet[Fact]:
    """Active facts, expired ones too, that `model` has not embedded as they are now. Runs in the tenant's scope."""
    coming = ComingVector.objects.filter(fact=OuterRef("pk"), embedding_model=model, fact_hash=OuterRef("hash"))
    return Fact.objects.filter(~Exists(coming), status=FactStatus.ACTIVE).defer("embedding")


def vectors_prepared(*, tenant: Tenant, model: str) -> Prepared:
    with tenant_scope(tenant):
        total = Fact.objects.filter(status=FactStatus.ACTIVE).count()
        return Prepared(total - facts_without_coming(model).count(), total)
