"""The older forms of add, list and search, which answer bare lists; and the delete of many, which never got a newer."""

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import PolymorphicProxySerializer, extend_schema
from facts.models import Fact
from facts.selectors import facts_matching
from facts.services import facts_delete
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from api.inputs import DeleteManyInput, ListQuery, OlderAddInput, OlderListInput, OlderSearchInput
from api.outputs import (
    AddedListOutput,
    AddedOutput,
    DeletedManyOutput,
    FoundMemoryOutput,
    FoundOutput,
    MemoryOutput,
    MemoryPageOutput,
)
from api.views.base import READ, WRITE, TenantView
from api.views.memories import (
    PAGE,
    add_memories,
    added_results,
    find_memories,
    page_of_memories,
    pending_answer,
)
from api.views.search import search_memories

MAX_LIST = 10_000
LISTED = PolymorphicProxySerializer(
    "MemoriesOrPage", [MemoryOutput(many=True), MemoryPageOutput], resource_type_field_name=None, many=False
)
FOUND = PolymorphicProxySerializer(
    "FoundListOrResults", [FoundMemoryOutput(many=True), FoundOutput], resource_type_field_name=None, many=False
)
ADDED = PolymorphicProxySerializer(
    "AddedListOrResults", [AddedOutput(many=True), AddedListOutput], resource_type_field_name=None, many=False
)


class OlderMemoriesView(TenantView):
    key_scopes = {"GET": READ, "POST": WRITE, "DELETE": WRITE}

    @extend_schema(
        operation_id="memories_list_v1",
        summary="List memories, newest first (older form)",
        description="A bare list of all that match, or a page of them when `page` or `page_size` is given.",
        parameters=[ListQuery, *PAGE],
        responses=LISTED,
        tags=["older forms"],
    )
    def get(self, request: Request) -> Response:
        given = ListQuery.checked(request.query_params.dict())
        return _listed(self, request, given, paged=bool({"page", "page_size"} & request.query_params.keys()))

    @extend_schema(
        operation_id="memories_add_v1",
        summary="Add memories (older form)",
        request=OlderAddInput,
        responses=ADDED,
        tags=["older forms"],
    )
    def post(self, request: Request) -> Response:
        given = OlderAddInput.checked(request.data)
        if given["infer"]:
            return _formatted(given, [pending_answer(find_memories(self.caller, given))])
        return _formatted(given, added_results(add_memories(self.caller, given)))

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


class SecondMemoriesView(TenantView):
    key_scopes = {"POST": READ}

    @extend_schema(
        operation_id="memories_list_v2",
        summary="List memories, newest first (older form)",
        request=OlderListInput,
        parameters=PAGE,
        responses=LISTED,
        tags=["older forms"],
    )
    def post(self, request: Request) -> Response:
        given = OlderListInput.checked(request.data)
        return _listed(self, request, given, paged=bool({"page", "page_size"} & request.query_params.keys()))


class OlderSearchView(TenantView):
    """One view for both older versions: they differ in where names stand, and both places are understood."""

    key_scopes = {"POST": READ}

    @extend_schema(
        summary="Search memories by meaning (older form)",
        request=OlderSearchInput,
        responses=FOUND,
        tags=["older forms"],
    )
    def post(self, request: Request) -> Response:
        given = OlderSearchInput.checked(request.data)
        return _formatted(given, search_memories(self.tenant, given))


def _listed(view: TenantView, request: Request, given: dict[str, Any], *, paged: bool) -> Response:
    facts: QuerySet[Fact] = facts_matching(
        tenant=view.tenant, condition=given["condition"], show_expired=given["show_expired"]
    )
    if paged:
        return page_of_memories(view, request, facts)
    listed = list(facts.defer("embedding")[: MAX_LIST + 1])
    if len(listed) > MAX_LIST:
        raise ValidationError({"page": [f"More than {MAX_LIST} memories match: ask for pages."]})
    memories = MemoryOutput(listed, many=True).data
    whole = {"count": len(listed), "next": None, "previous": None, "results": memories}
    return Response(whole if given["output_format"] == "v1.1" else memories)


def _formatted(given: dict[str, Any], results: Any) -> Response:
    return Response({"results": results} if given["output_format"] == "v1.1" else results)
