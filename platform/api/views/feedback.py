"""Feedback on memories."""

from drf_spectacular.utils import extend_schema
from facts.selectors import fact_get
from facts.services import feedback_set
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from api.inputs import FeedbackInput
from api.outputs import FeedbackOutput
from api.views.base import WRITE, TenantView


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
