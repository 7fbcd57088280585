"""Claims of facts that were stored under earlier rules, or before there were any."""

from tenants.models import Tenant
from tenants.scope import tenant_scope

from facts.models import Fact, FactStatus
from facts.truth import CLAIM_VERSION, claim_key

BATCH = 500


def facts_claim_outdated(*, tenant: Tenant, limit: int) -> int:
    """How many active facts got the claim that today's rules find. A fact changed in the meantime keeps its own."""
    with tenant_scope(tenant):
        outdated = Fact.objects.filter(status=FactStatus.ACTIVE, claim_version__lt=CLAIM_VERSION)
        facts = list(outdated.only("pk", "text")[:limit])
        for fact in facts:
            fact.claim_key, fact.claim_version = claim_key(fact.text), CLAIM_VERSION
        return outdated.bulk_update(facts, ["claim_key", "claim_version"], batch_size=BATCH)
