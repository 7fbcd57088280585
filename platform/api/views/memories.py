"""Calls on the collection of memories: add, list."""

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema
from facts.inputs import AddResult, Message
from facts.models import Event, EventStatus, Fact
from facts.selectors import facts_matching
from facts.services import extraction_request, facts_add
from facts.wishes import extraction_wishes
from rest_framework.request import Request
from rest_framework.response import Response

from api.authentication import KeyHolder
from api.inputs import AddInput, ListInput
from api.outputs import AddedOutput, AddOutput, MemoryOutput, MemoryPageOutput
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
        if given["infer"]:
            return Response(AddOutput(pending_answer(find_memories(self.caller, given))).data)
        added = add_memories(self.caller, given)
        answer = {
            "message": f"{sum(entry.created for entry in added.facts)} memories stored.",
            "status": added.event.status,
            "event_id": added.event.pk,
            "results": added_results(added),
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
        return page_of_memories(self, request, facts)


def add_memories(caller: KeyHolder, given: dict[str, Any]) -> AddResult:
    """What a checked AddInput asks for."""
    return facts_add(**_asked(caller, given))


def find_memories(caller: KeyHolder, given: dict[str, Any]) -> Event:
    """The job that finds what a checked AddInput's messages say."""
    wishes = extraction_wishes(
        tenant=caller.tenant,
        instructions=given.get("custom_instructions") or "",
        includes=given.get("includes") or "",
        excludes=given.get("excludes") or "",
        categories=given.get("custom_categories"),
    )
    return extraction_request(**_asked(caller, given), wishes=wishes)


def pending_answer(event: Event) -> dict[str, Any]:
    """Before any fact is found."""
    is_pending = event.status == EventStatus.PENDING
    message = "Facts are looked for; the event says what was found." if is_pending else "There is nothing to find."
    return {"message": message, "status": event.status, "event_id": event.pk, "results": []}


def _asked(caller: KeyHolder, given: dict[str, Any]) -> dict[str, Any]:
    return {
        "tenant": caller.tenant,
        "scopes": given["scopes"],
        "messages": [Message(message["role"], message["content"]) for message in given["messages"]],
        "metadata": given.get("metadata"),
        "categories": given.get("categories"),
        "expires_at": given.get("expiration_date"),
        "immutable": given["immutable"],
        "occurred_at": given.get("timestamp"),
        "actor": caller.actor,
    }


def added_results(added: AddResult) -> Any:
    results = [
        {"id": entry.fact.pk, "event": entry.event, "data": {"memory": entry.fact.text}} for entry in added.facts
    ]
    return AddedOutput(results, many=True).data


def page_of_memories(view: TenantView, request: Request, facts: QuerySet[Fact]) -> Response:
    pages = Pages()
    page = pages.paginate_queryset(facts.defer("embedding"), request, view=view)
    return pages.get_paginated_response(MemoryOutput(page, many=True).data)
