"""A summary of memories."""

from itertools import islice
from typing import Any

from django.db import transaction
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from facts.models import ProfileStatus, Summary
from facts.selectors import facts_matching
from facts.summaries import newest_lines, summary_ask, summary_get, summary_is_due, summary_source
from jobs.models import JobKind
from jobs.services import job_create
from rest_framework.request import Request
from rest_framework.response import Response

from api.inputs import SummaryInput
from api.outputs import SummaryOutput
from api.views.base import READ, TenantView

ASKED = ("filters", "categories", "show_expired")
NEWEST = 200
MAX_CHARACTERS = 2000


class SummaryView(TenantView):
    key_scopes = {"POST": READ}

    @extend_schema(
        operation_id="memories_summary",
        summary="What is remembered, in a short text",
        description=(
            "A job has the model write it; ask again until `status` is succeeded. Until there is one, and while the"
            " model fails, it is the newest memories that match, a line each, as many as fit in 2,000 characters."
            " Memories that were added since are in the next one, which this call asks for."
        ),
        request=SummaryInput,
        responses=SummaryOutput,
        tags=["memories"],
    )
    def post(self, request: Request) -> Response:
        given = SummaryInput.checked(request.data)
        asked = {name: value for name, value in dict(request.data).items() if value is not None and name in ASKED}
        facts = facts_matching(tenant=self.tenant, condition=given["condition"], show_expired=given["show_expired"])
        source, summary = summary_source(facts), summary_get(tenant=self.tenant, asked=asked)
        if summary_is_due(summary, source, now=timezone.now()):
            summary = self._ask(summary, asked)
        lines = newest_lines(islice(reversed(source.texts), NEWEST), max_characters=MAX_CHARACTERS)
        answer = {
            "count": len(source.texts),
            "summary": (summary.text or lines) if source.texts else "",
            "status": summary.status if source.texts else ProfileStatus.INSUFFICIENT,
            "error": summary.error,
        }
        return Response(SummaryOutput(answer).data)

    @transaction.atomic
    def _ask(self, summary: Summary, asked: dict[str, Any]) -> Summary:
        pending = summary_ask(summary=summary)
        if pending is None:
            return summary
        options = {"summary": pending.pk, "asked": asked}
        job_create(tenant=self.tenant, kind=JobKind.SUMMARY, options=options, actor=self.caller.actor, total=1)
        return pending
