"""Vectors: for facts that went without, and for all facts of a tenant that changes its embedding model."""

from django.db import transaction
from django.db.models import F, OuterRef, Subquery
from tenants.models import Tenant
from tenants.scope import tenant_scope

from facts.embedding import embed_texts
from facts.models import ComingVector, Fact, FactStatus, Owner
from facts.selectors.vectors import facts_without_coming
from facts.services.change import owner_locked, owner_touch

FEW = 100  # facts that are embedded while nothing can be stored


class EmbeddingFailed(RuntimeError):
    """The embedding model cannot be used; the log says why."""


def facts_embed_missing(*, tenant: Tenant, limit: int = 500) -> int:
    """How many got one. A fact changed in the meantime keeps its own."""
    model = tenant.embedding_model
    with tenant_scope(tenant):
        without = Fact.objects.filter(status=FactStatus.ACTIVE).exclude(embedding_model=model)
        facts = list(without.order_by("owner_id", "created_at")[:limit])
        found = embed_texts([fact.text for fact in facts], model=model)
        vectors = dict(zip([fact.pk for fact in facts], found, strict=True))
        done = 0
        for owner_id in dict.fromkeys(fact.owner_id for fact in facts):
            with owner_locked(owner_id) as owner:
                seq = owner_touch(owner)
                for fact in facts:
                    if fact.owner_id == owner_id and (vector := vectors[fact.pk]) is not None:
                        unchanged = Fact.objects.filter(pk=fact.pk, hash=fact.hash, status=FactStatus.ACTIVE)
                        done += unchanged.update(embedding=vector, embedding_model=model, seq=seq)
    return done


def vectors_prepare(*, tenant: Tenant, model: str, limit: int) -> int:
    """How many facts got their coming vector; searches do not see them yet. Raises EmbeddingFailed."""
    with tenant_scope(tenant):
        facts = list(facts_without_coming(model).order_by("created_at", "pk")[:limit])
        made = [
            ComingVector(tenant=tenant, fact=fact, embedding=vector, embedding_model=model, fact_hash=fact.hash)
            for fact, vector in zip(facts, embed_texts([fact.text for fact in facts], model=model), strict=True)
            if vector is not None
        ]
        if len(made) < len(facts):
            raise EmbeddingFailed(f"the embedding model {model} cannot be used; {tenant.embedding_model} stays in use")
        ComingVector.objects.bulk_create(
            made,
            update_conflicts=True,
            unique_fields=["fact"],
            update_fields=["embedding", "embedding_model", "fact_hash"],
        )
    return len(made)


def vectors_switch(*, tenant: Tenant, model: str) -> bool:
    """Compare the coming vectors from here on, all at once; False, and nothing changed, while many are missing.

    Nothing is stored meanwhile: who holds all owners may embed the few that came last. Raises EmbeddingFailed.
    """
    with tenant_scope(tenant), transaction.atomic():
        if facts_without_coming(model)[:FEW].count() == FEW:
            return False
        owners = Owner.objects.select_for_update(no_key=True).order_by("pk")
        locked = len(owners.values_list("pk"))
        if facts_without_coming(model).count() > FEW:
            return False
        vectors_prepare(tenant=tenant, model=model, limit=FEW)
        if locked:
            Owner.objects.update(change_seq=F("change_seq") + 1)
        coming = ComingVector.objects.filter(fact=OuterRef("pk"))
        Fact.objects.filter(status=FactStatus.ACTIVE).update(
            embedding=Subquery(coming.values("embedding")[:1]),
            embedding_model=model,
            seq=Subquery(Owner.objects.filter(pk=OuterRef("owner_id")).values("change_seq")[:1]),
        )
        ComingVector.objects.all().delete()
        Tenant.objects.filter(pk=tenant.pk).update(embedding_model=model)
    tenant.embedding_model = model
    return True


def vectors_forget(*, tenant: Tenant) -> None:
    """What was prepared for a model that is wanted no more."""
    with tenant_scope(tenant):
        ComingVector.objects.all().delete()
