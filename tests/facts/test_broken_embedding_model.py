"""A fact is stored and found when the embedding model fails, and gets its vector later."""

from pathlib import Path

from facts.models import Fact
from facts.search import facts_search
from facts.selectors import owner_state
from facts.services import facts_embed_missing
from tenants.models import Tenant

from tests.factories import add_facts


def test_it_is_stored_found_and_embedded_later(tenant: Tenant, tmp_path: Path) -> None:
    tenant.embedding_model = str(tmp_path)
    fact = add_facts(tenant, "Likes tea.")[0]
    assert fact.embedding is None
    assert [found.score for found in facts_search(tenant=tenant, query="tea")] == [None]

    tenant.embedding_model = "demo"
    assert facts_embed_missing(tenant=tenant) == 1
    assert facts_embed_missing(tenant=tenant) == 0
    score = facts_search(tenant=tenant, query="tea")[0].score
    assert score is not None
    assert score > 0.3
    assert Fact.objects.get().seq == owner_state(fact.owner_id).change_seq == 2
