"""The log of chat requests."""

from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from facts.selectors import facts_look
from tenants.access import Power
from usage.models import RequestRecord
from usage.selectors import request_get, requests_browse

from frontend.forms import RequestFilterForm
from frontend.paging import PAGE_SIZE, CappedPaginator
from frontend.periods import CHOICES, Period
from frontend.views.base import TenantView


class RequestsView(TenantView):
    section = "requests"
    powers = {"GET": Power.VIEWER}

    def get(self, request: HttpRequest) -> HttpResponse:
        form, period = RequestFilterForm(request.GET), Period.parse(request.GET.dict())
        found = requests_browse(tenant=self.tenant, since=period.since, until=period.until, chosen=form.chosen())
        page = CappedPaginator(found, PAGE_SIZE).get_page(request.GET.get("page"))
        status = 200 if form.is_valid() else 400
        return self.show("requests", status=status, form=form, period=period, periods=CHOICES, page=page)


class RequestView(TenantView):
    section = "requests"
    powers = {"GET": Power.VIEWER}

    def get(self, request: HttpRequest, record_id: UUID) -> HttpResponse:
        record = request_get(tenant=self.tenant, record_id=record_id)
        if record is None:
            raise Http404
        retrieval, ttft, total = record.retrieval_ms or 0.0, record.ttft_ms, record.total_ms
        phases = [
            ("Retrieval", retrieval if record.retrieval_ms is not None else None),
            ("To the first token, without retrieval", max(0.0, ttft - retrieval) if ttft is not None else None),
            ("The rest of the answer", max(0.0, total - ttft) if total is not None and ttft is not None else None),
        ]
        text = max(0, record.prompt_tokens - record.tokens_injected_planned)
        context: dict[str, Any] = {"record": record, "phases": phases, "text_tokens": text}
        return self.show("request", used=self._used(record), text_facts=_text_facts(record), **context)

    def _used(self, record: RequestRecord) -> list[dict[str, Any]]:
        """In the order of the prompt; `fact` is None for one that was deleted since."""
        ids = record.fact_ids or []
        known = facts_look(tenant=self.tenant, fact_ids=ids)
        injected = record.facts_injected or 0
        return [{"fact": known.get(fact_id), "injected": place < injected} for place, fact_id in enumerate(ids)]


def _text_facts(record: RequestRecord) -> int | None:
    return None if record.facts_injected is None else record.facts - record.facts_injected
