"""Work that goes on behind the calls: encodings, facts looked for in conversations, imports and exports."""

from uuid import UUID

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from facts.errors import InvalidInputError
from facts.models import EventStatus
from facts.selectors import encodings_failed, event_get, extractions_list, memory_figures
from facts.services import encodings_remake, extraction_cancel, extraction_retry
from jobs.selectors import job_find, jobs_list
from jobs.services import job_cancel, job_retry
from tenants.access import Power

from frontend.views.base import TenantView

PAGE_SIZE = 50
AT_ONCE = 1000
KINDS = {"encodings": "Encodings", "extractions": "Facts from conversations", "jobs": "Imports and exports"}
ADMIN = {"POST": Power.ADMIN}


class JobsView(TenantView):
    section = "jobs"
    powers = {"GET": Power.VIEWER}

    def get(self, request: HttpRequest) -> HttpResponse:
        kind, state = request.GET.get("kind", ""), request.GET.get("state", "")
        kind = kind if kind in KINDS else "encodings"
        state = state if state in EventStatus.values else ""
        found = {
            "encodings": encodings_failed(tenant=self.tenant),
            "extractions": extractions_list(tenant=self.tenant, status=state),
            "jobs": jobs_list(tenant=self.tenant, state=state),
        }
        page = Paginator(found[kind], PAGE_SIZE).get_page(request.GET.get("page"))
        return self.show(
            "jobs",
            memory=memory_figures(tenant=self.tenant),
            kind=kind,
            kinds=KINDS,
            state=state,
            states=EventStatus.choices,
            page=page,
        )

    def back(self, kind: str) -> HttpResponse:
        answer = redirect("dashboard:jobs", slug=self.tenant.slug)
        answer["location"] += f"?kind={kind}"
        return answer


class EncodingsRetryView(JobsView):
    """Those given up: one where the form names it, else all, up to a thousand."""

    powers = ADMIN

    def post(self, request: HttpRequest) -> HttpResponse:
        failed = encodings_failed(tenant=self.tenant)
        if (chosen := request.POST.get("encoding", "")).isdigit():
            failed = failed.filter(pk=int(chosen))
        ids = list(failed.values_list("pk", flat=True)[:AT_ONCE])
        with self.audited("encodings.retry", count=len(ids)):
            again = encodings_remake(tenant=self.tenant, ids=ids)
        messages.success(request, f"Tried again: {again}.")
        return self.back("encodings")


class ExtractionJobView(JobsView):
    powers = ADMIN

    def post(self, request: HttpRequest, event_id: UUID) -> HttpResponse:
        event = event_get(tenant=self.tenant, event_id=event_id)
        if event is None:
            raise Http404
        if request.POST.get("action") == "cancel":
            with self.audited("extraction.cancel", event.pk):
                ended = extraction_cancel(tenant=self.tenant, event=event, actor=self.actor)
            messages.info(request, "Called off; what it was to read is erased." if ended else "It had ended already.")
            return self.back("extractions")
        try:
            with self.audited("extraction.retry", event.pk):
                extraction_retry(tenant=self.tenant, event=event)
            messages.success(request, "It is tried again.")
        except InvalidInputError as error:
            messages.error(request, error.message.capitalize() + ".")
        return self.back("extractions")


class JobView(JobsView):
    powers = ADMIN

    def post(self, request: HttpRequest, job_id: UUID) -> HttpResponse:
        job = job_find(tenant=self.tenant, job_id=job_id)
        if job is None:
            raise Http404
        if request.POST.get("action") == "cancel":
            with self.audited("job.cancel", job.pk):
                ended = job_cancel(job=job, actor=self.actor)
            messages.info(request, "Called off; what is done stays done." if ended else "It had ended already.")
        else:
            with self.audited("job.retry", job.pk):
                again = job_retry(job=job)
            messages.info(request, "It goes on." if again else f"Only a job that failed goes on; it is {job.state}.")
        return self.back("jobs")
