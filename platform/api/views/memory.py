"""Calls on one memory."""

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from facts.inputs import UNSET
from facts.models import Fact
from facts.selectors import fact_get, fact_history
from facts.services import fact_delete, fact_update
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from api.inputs import UpdateInput, check_metadata_names
from api.outputs import HistoryOutput, MemoryOutput, MessageOutput, UpdatedOutput
from api.views.base import READ, WRITE, TenantView, parse_id

MEMORY_ID = OpenApiParameter("memory_id", OpenApiTypes.UUID, OpenApiParameter.PATH)


@extend_schema(parameters=[MEMORY_ID], tags=["memories"])
class MemoryView(TenantView):
    key_scopes = {"GET": READ, "PUT": WRITE, "DELETE": WRITE}

    @extend_schema(operation_id="memory_get", summary="One memory", responses=MemoryOutput)
    def get(self, request: Request, memory_id: str) -> Response:
        return Response(MemoryOutput(self._fact(memory_id)).data)

    @extend_schema(
        operation_id="memory_update",
        summary="Change a memory",
        description="What is left out stays; metadata is replaced whole.",
        request=UpdateInput,
        responses=UpdatedOutput,
    )
    def put(self, request: Request, memory_id: str) -> Response:
        fact = self._fact(memory_id)
        given = UpdateInput.checked(request.data)
        check_metadata_names(given.get("metadata"), fact.scopes)
        fact = fact_update(
            fact=fact,
            text=given.get("text"),
            metadata=given.get("metadata"),
            expires_at=given.get("expiration_date", UNSET),
            occurred_at=given.get("timestamp", UNSET),
            actor=self.caller.actor,
        )
        return Response(UpdatedOutput(fact).data)

    @extend_schema(operation_id="memory_delete", summary="Delete a memory", responses=MessageOutput)
    def delete(self, request: Request, memory_id: str) -> Response:
        fact_delete(fact=self._fact(memory_id), actor=self.caller.actor)
        return Response(MessageOutput({"message": "Memory deleted."}).data)

    def _fact(self, memory_id: str) -> Fact:
        fact = fact_get(tenant=self.tenant, fact_id=parse_id(memory_id, "memory_id"))
        if fact is None:
            raise NotFound(f"There is no memory {memory_id}.")
        return fact


@extend_schema_view(get=extend_schema(parameters=[MEMORY_ID], tags=["memories"]))
class HistoryView(TenantView):
    key_scopes = {"GET": READ}

    @extend_schema(
        operation_id="memory_history",
        summary="What happened to a memory, oldest first",
        responses=HistoryOutput(many=True),
    )
    def get(self, request: Request, memory_id: str) -> Response:
        entries = fact_history(tenant=self.tenant, fact_id=parse_id(memory_id, "memory_id"))
        if not entries:
            raise NotFound(f"There is no memory {memory_id}.")
        return Response(HistoryOutput(entries, many=True).data)
