"""Calls on many memories by their ids: all or none."""

from drf_spectacular.utils import extend_schema
from facts.inputs import UNSET, FactUpdate
from facts.selectors import facts_by_id
from facts.services import facts_delete_many, facts_update
from rest_framework.request import Request
from rest_framework.response import Response

from api.inputs import BatchDeleteInput, BatchUpdateInput, check_metadata_names
from api.outputs import MessageOutput
from api.views.base import WRITE, TenantView


class BatchView(TenantView):
    key_scopes = {"PUT": WRITE, "DELETE": WRITE}
    delete_has_body = True

    @extend_schema(
        operation_id="batch_update",
        summary="Change up to 1,000 memories, all or none",
        request=BatchUpdateInput,
        responses=MessageOutput,
        tags=["memories"],
    )
    def put(self, request: Request) -> Response:
        entries = BatchUpdateInput.checked(request.data)["memories"]
        facts = facts_by_id(tenant=self.tenant, fact_ids=[entry["memory_id"] for entry in entries])
        updates = []
        for fact, entry in zip(facts, entries, strict=True):
            check_metadata_names(entry.get("metadata"), fact.scopes)
            moments = entry.get("expiration_date", UNSET), entry.get("timestamp", UNSET)
            updates.append(FactUpdate(fact, entry.get("text"), entry.get("metadata"), *moments))
        facts_update(updates=updates, actor=self.caller.actor)
        return Response(MessageOutput({"message": f"Successfully updated {len(updates)} memories"}).data)

    @extend_schema(
        operation_id="batch_delete",
        summary="Delete up to 1,000 memories, all or none",
        description="Those deleted already are passed over, so that the call can be sent again.",
        request=BatchDeleteInput,
        responses=MessageOutput,
        tags=["memories"],
    )
    def delete(self, request: Request) -> Response:
        entries = BatchDeleteInput.checked(request.data)["memories"]
        ids = [entry["memory_id"] for entry in entries]
        deleted = facts_delete_many(tenant=self.tenant, fact_ids=ids, actor=self.caller.actor)
        return Response(MessageOutput({"message": f"Successfully deleted {deleted.count} memories"}).data)
