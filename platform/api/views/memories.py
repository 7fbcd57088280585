"""Calls on the collection of memories: add, list, delete many."""

from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from facts.inputs import ExtractionWishes, Message
from facts.models import EventStatus
from facts.selectors import facts_matching
from facts.services import extraction_request, facts_add, facts_delete
from rest_framework.request import Request
from rest_framework.response import Response

from api.inputs import AddInput, DeleteManyInput, ListInput
from api.outputs import AddOutput, DeletedManyOutput, MemoryOutput, MemoryPageOutput
from api.pagination import Pages
from api.views.base import READ, WRITE, TenantView

PAGE = [
    OpenApiParameter("page", int, description="1 or more"),
    OpenApiParameter("page_size", int, description="1 to 200, 100 by default"),
]


class AddView(TenantView):
    key_scopes = {"POST": WRITE}

    @extend_schema(
        operation_id="memories_add",
        summary="Add memories",
        description=(
            "A job finds the facts in the messages and keeps memory true: what is known is not stored again, what is"
            " contradicted is superseded. With `infer: false` each message becomes one memory at once, as it is."
        ),
        request=AddInput,
        responses=AddOutput,
        tags=["memories"],
    )
    def post(self, request: Request) -> Response:
        given = AddInput.checked(request.data)
        asked: dict[str, Any] = {
            "tenant": self.tenant,
            "scopes": given["scopes"],
            "messages": [Message(message["role"], message["content"]) for message in given["messages"]],
            "metadata": given.get("metadata"),
            "categories": given.get("categories"),
            "expires_at": given.get("expiration_date"),
            "immutable": given["immutable"],
            "occurred_at": given.get("timestamp"),
            "actor": self.caller.actor,
        }
        if given["infer"]:
            return Response(AddOutput(self._find(given, asked)).data)
        added = facts_add(**asked)
        results = [
            {"id": entry.fact.pk, "event": entry.event, "data": {"memory": entry.fact.text}} for entry in added.facts
        ]
        answer = {
            "message": f"{sum(entry.created for entry in added.facts)} memories stored.",
            "status": added.event.status,
            "event_id": added.event.pk,
            "results": results,
        }
        return Response(AddOutput(answer).data)

    @staticmethod
    def _find(given: dict[str, Any], asked: dict[str, Any]) -> dict[str, Any]:
        """The answer before any fact is found."""
        wishes = ExtractionWishes(
            instructions=given.get("custom_instructions") or "",
            includes=given.get("includes") or "",
            excludes=given.get("excludes") or "",
        )
        event = extraction_request(**asked, wishes=wishes)
        is_pending = event.status == EventStatus.PENDING
        message = "Facts are looked for; the event says what was found." if is_pending else "There is nothing to find."
        return {"message": message, "status": event.status, "event_id": event.pk, "results": []}


class MemoriesView(TenantView):
    key_scopes = {"POST": READ}

    @extend_schema(
        summary="List memories, newest first",
        request=ListInput,
        parameters=PAGE,
        responses=MemoryPageOutput,
        operation_id="memories_list",
        tags=["memories"],
    )
    def post(self, request: Request) -> Response:
        given = ListInput.checked(request.data)
        facts = facts_matching(tenant=self.tenant, condition=given["condition"], show_expired=given["show_expired"])
        pages = Pages()
        page = pages.paginate_queryset(facts.defer("embedding"), request, view=self)
        return pages.get_paginated_response(MemoryOutput(page, many=True).data)


class ManyMemoriesView(TenantView):
    key_scopes = {"DELETE": WRITE}

    @extend_schema(
        operation_id="memories_delete",
        summary="Delete all memories of a user, agent, app or run",
        description="All that carry every name given, whatever their number. At least one name is needed.",
        parameters=[DeleteManyInput],
        responses=DeletedManyOutput,
        tags=["memories"],
    )
    def delete(self, request: Request) -> Response:
        given = DeleteManyInput.checked(request.query_params.dict())
        deleted = facts_delete(tenant=self.tenant, scopes=given["scopes"], actor=self.caller.actor)
        answer = {"message": f"{deleted.count} memories deleted.", "event_id": deleted.event.pk}
        return Response(DeletedManyOutput(answer).data)
