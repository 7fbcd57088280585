"""The search call."""

from typing import Any

from drf_spectacular.utils import extend_schema
from facts.search import facts_search
from rest_framework.request import Request
from rest_framework.response import Response
from tenants.models import Tenant

from api.inputs import SearchInput
from api.outputs import FoundMemoryOutput, FoundOutput
from api.views.base import READ, TenantView


class SearchView(TenantView):
    key_scopes = {"POST": READ}

    @extend_schema(
        operation_id="memories_search",
        summary="Search memories by meaning",
        description=(
            "The best `top_k` of all that match the filters. Ranks by meaning and by words make the order together; "
            "`score`, with which `threshold` is compared, is the cosine of meaning alone, so that a memory with the "
            "query's words may stand before one of a higher score. Those without a vector come last, unscored."
        ),
        request=SearchInput,
        responses=FoundOutput,
        tags=["memories"],
    )
    def post(self, request: Request) -> Response:
        return Response({"results": search_memories(self.tenant, SearchInput.checked(request.data))})


def search_memories(tenant: Tenant, given: dict[str, Any]) -> list[dict[str, Any]]:
    """What a checked SearchInput asks for."""
    found = facts_search(
        tenant=tenant,
        query=given["query"],
        condition=given["condition"],
        top_k=given["top_k"],
        threshold=given["threshold"] or -1.0,  # 0 leaves nothing out, and a cosine may be negative
        show_expired=given["show_expired"],
        with_reranker=given["rerank"],
    )
    results = [dict(memory) for memory in FoundMemoryOutput(found, many=True).data]  # type: ignore[arg-type]
    if wanted := given.get("fields"):
        return [{name: memory[name] for name in ("id", *wanted)} for memory in results]
    return results
