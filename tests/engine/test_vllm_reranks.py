"""vLLM's own `/rerank` serves as the reranker."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from facts.search import facts_search
from tenants.models import Tenant

from memory.models import resolve_embedding_model
from tests.factories import ALICE, add_facts
from tests.reranker import forget_reranker
from tests.workers.running.processes import until
from tests.workers.troubled_engine import free_port

pytestmark = [pytest.mark.engine, pytest.mark.django_db]


@pytest.fixture(scope="module")
def reranker_url(home: Path) -> Iterator[str]:
    """It compares texts by the demo's embedding model, the only one that ships in a package."""
    port = free_port()
    flags = ["--runner", "pooling", "--served-model-name", "judge", "--dtype", "float32", "--max-model-len", "256"]
    flags.append("--enforce-eager")  # it is up sooner
    model = str(resolve_embedding_model("demo", home))
    command = [sys.executable, "-m", "vllm.entrypoints.openai.api_server", "--model", model, "--port", str(port)]
    with subprocess.Popen([*command, "--host", "127.0.0.1", *flags]) as process:
        url = f"http://127.0.0.1:{port}"
        try:
            until(lambda: process.poll() is not None or _is_up(url), "the reranker answers", seconds=240)
            yield f"{url}/v1"
        finally:
            process.terminate()
            process.wait(60)


def _is_up(url: str) -> bool:
    try:
        return httpx.get(f"{url}/health", trust_env=False).is_success
    except httpx.HTTPError:
        return False


def test_words_that_moved_a_fact_up_do_not_in_its_order(reranker_url: str, tenant: Tenant, settings: Any) -> None:
    """Full text search has fused the fact with the question's rare word before nearer ones."""
    parcels = [f"The parcel with number {number} was sent to a customer." for number in range(700, 730)]
    add_facts(tenant, *parcels, "Zofia was ill on Monday.")
    settings.ENV = settings.ENV.model_copy(update={"rerank_url": reranker_url, "rerank_model": "judge"})
    forget_reranker()
    asked: dict[str, Any] = {"scopes": ALICE, "top_k": 31, "threshold": -1.0}
    question = "How are packages shipped to clients? Zofia wonders."
    found = facts_search(tenant=tenant, query=question, **asked)
    reranked = facts_search(tenant=tenant, query=question, with_reranker=True, **asked)
    places = [[one.fact.text for one in facts].index("Zofia was ill on Monday.") for facts in (found, reranked)]
    assert places[0] < 3
    assert places[1] == 30
    cosines = {one.fact.text: one.score for one in found}
    for one in reranked:
        assert one.relevance == pytest.approx(cosines[one.fact.text], abs=0.01)
    forget_reranker()
