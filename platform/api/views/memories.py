"""Calls on the collection of memories: add, list, delete many."""

from drf_spectacular.utils import OpenApiParameter, extend_schema
from facts.inputs import Message
from facts.selectors import facts_matching
from facts.services import facts_add, facts_delete
from rest_framework.request import Request
from rest_framework.response import Response

from api.errors import NeedsExtraction
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
        description="Each message becomes one memory, as it is. One that is there already is not stored twice.",
        request=AddInput,
        responses=AddOutput,
        tags=["memories"],
    )
    def post(self, request: Request) -> Response:
        given = AddInput.checked(request.data)
        if given["infer"]:
            raise NeedsExtraction
        added = facts_add(
            tenant=self.tenant,
            scopes=given["scopes"],
            messages=[Message(message["role"], message["content"]) for message in given["messages"]],
            metadata=given.get("metadata"),
            categories=given.get("categories"),
            expires_at=given.get("expiration_date"),
            immutable=given["immutable"],
            occurred_at=given.get("timestamp"),
            actor=self.caller.actor,
        )
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
