"""Feedback on memories, and a summary of them."""

from drf_spectacular.utils import extend_schema
from facts.selectors import fact_get, facts_matching
from facts.services import feedback_set
from facts.summary import summarise
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from api.inputs import FeedbackInput, SummaryInput
from api.outputs import FeedbackOutput, SummaryOutput
from api.views.base import READ, WRITE, TenantView

SUMMARISED = 200


class FeedbackView(TenantView):
    key_scopes = {"POST": WRITE}

    @extend_schema(
        operation_id="feedback_set",
        summary="Say what you think of a memory",
        description="A key's latest word on a memory replaces the one before; null takes it back.",
        request=FeedbackInput,
        responses=FeedbackOutput,
        tags=["memories"],
    )
    def post(self, request: Request) -> Response:
        given = FeedbackInput.checked(request.data)
        fact = fact_get(tenant=self.tenant, fact_id=given["memory_id"])
        if fact is None:
            raise NotFound(f"There is no memory {given['memory_id']}.")
        reason = given.get("feedback_reason") or ""
        feedback = feedback_set(fact=fact, verdict=given["feedback"], reason=reason, actor=self.caller.actor)
        answer = {
            "id": feedback.pk if feedback else None,
            "memory_id": fact.pk,
            "feedback": given["feedback"],
            "feedback_reason": reason or None,
            "message": "Feedback stored." if feedback else "Feedback taken back.",
        }
        return Response(FeedbackOutput(answer).data)


class SummaryView(TenantView):
    key_scopes = {"POST": READ}

    @extend_schema(
        operation_id="memories_summary",
        summary="What is remembered, in a short text",
        description="The newest memories that match, a line each, as many as fit in 2,000 characters.",
        request=SummaryInput,
        responses=SummaryOutput,
        tags=["memories"],
    )
    def post(self, request: Request) -> Response:
        given = SummaryInput.checked(request.data)
        facts = facts_matching(tenant=self.tenant, condition=given["condition"], show_expired=given["show_expired"])
        answer = {"count": facts.count(), "summary": summarise(facts.defer("embedding")[:SUMMARISED])}
        return Response(SummaryOutput(answer).data)
