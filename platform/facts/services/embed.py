"""Vectors for facts that went without, or have another model's."""

from tenants.models import Tenant
from tenants.scope import tenant_scope

from facts.embedding import embed_texts, embedding_model
from facts.models import Fact, FactStatus
from facts.services.change import owner_locked, owner_touch


def facts_embed_missing(*, tenant: Tenant, limit: int = 500) -> int:
    """How many got one. A fact changed in the meantime keeps its own."""
    model = embedding_model()
    with tenant_scope(tenant):
        without = Fact.objects.filter(status=FactStatus.ACTIVE).exclude(embedding_model=model)
        facts = list(without.order_by("owner_id", "created_at")[:limit])
        vectors = dict(zip([fact.pk for fact in facts], embed_texts([fact.text for fact in facts]), strict=True))
        done = 0
        for owner_id in dict.fromkeys(fact.owner_id for fact in facts):
            with owner_locked(owner_id) as owner:
                seq = owner_touch(owner)
                for fact in facts:
                    if fact.owner_id == owner_id and (vector := vectors[fact.pk]) is not None:
                        unchanged = Fact.objects.filter(pk=fact.pk, hash=fact.hash, status=FactStatus.ACTIVE)
                        done += unchanged.update(embedding=vector, embedding_model=model, seq=seq)
    return done
