"""Whose memory it is: users, agents, apps, runs; their export and their end."""

from typing import Any
from uuid import UUID

from api.erasure import owner_erase
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from facts.models import Owner, OwnerKind
from facts.selectors import event_get, owner_by_id, owner_figures, owners_browse
from jobs.models import JobKind, JobState
from jobs.selectors import job_get, job_lines
from jobs.services import job_create
from tenants.access import Power
from usage.selectors import activity_of

from frontend.forms import EraseForm
from frontend.views.base import TenantView

PAGE_SIZE = 50


class UsersView(TenantView):
    section = "users"
    powers = {"GET": Power.VIEWER}

    def get(self, request: HttpRequest) -> HttpResponse:
        kind, name = request.GET.get("kind", OwnerKind.USER), request.GET.get("name", "").strip()
        if kind not in OwnerKind.values:
            kind = OwnerKind.USER.value
        owners = owners_browse(tenant=self.tenant, kind=kind, name=name)
        page = Paginator(owners, PAGE_SIZE).get_page(request.GET.get("page"))
        shown = list(page)
        activity = activity_of(tenant=self.tenant, owner_ids=[owner.pk for owner in shown])
        rows = [
            {"figures": figures, "activity": activity.get(figures.owner.pk)}
            for figures in owner_figures(tenant=self.tenant, owners=shown)
        ]
        return self.show("users", page=page, rows=rows, kind=kind, kinds=OwnerKind.choices, name=name)


class OwnerView(TenantView):
    section = "users"
    powers = {"GET": Power.VIEWER}

    def get(self, request: HttpRequest, owner_id: int) -> HttpResponse:
        return self.page(self.owner(owner_id))

    def owner(self, owner_id: int) -> Owner:
        owner = owner_by_id(tenant=self.tenant, owner_id=owner_id)
        if owner is None:
            raise Http404
        return owner

    def page(self, owner: Owner, *, status: int = 200, **context: Any) -> HttpResponse:
        (figures,) = owner_figures(tenant=self.tenant, owners=[owner])
        activity = activity_of(tenant=self.tenant, owner_ids=[owner.pk]).get(owner.pk)
        shared = {"owner": owner, "figures": figures, "activity": activity, "form": EraseForm()}
        return self.show("user", status=status, **{**shared, **context})


class OwnerExportView(OwnerView):
    """A job writes it; its page says how far it is and has the file."""

    powers = {"POST": Power.ADMIN}

    def post(self, request: HttpRequest, owner_id: int) -> HttpResponse:
        owner = self.owner(owner_id)
        options = {"filters": {f"{owner.kind}_id": owner.name}, "schema": {}, "owner_id": owner.pk}
        with self.audited("user.export", f"{owner.kind} {owner.name}"):
            job = job_create(tenant=self.tenant, kind=JobKind.EXPORT, options=options, actor=self.actor)
        return redirect("dashboard:export", slug=self.tenant.slug, job_id=job.pk)


class ExportView(TenantView):
    section = "users"
    powers = {"GET": Power.ADMIN}

    def get(self, request: HttpRequest, job_id: UUID) -> HttpResponse:
        job = job_get(tenant=self.tenant, kind=JobKind.EXPORT, job_id=job_id)
        if job is None:
            raise Http404
        return self.show("export", job=job, is_over=job.state in (JobState.FAILED, JobState.SUCCEEDED))


class ExportFileView(TenantView):
    powers = {"GET": Power.ADMIN}

    def get(self, request: HttpRequest, job_id: UUID) -> HttpResponseBase:
        job = job_get(tenant=self.tenant, kind=JobKind.EXPORT, job_id=job_id)
        if job is None or job.state != JobState.SUCCEEDED:
            raise Http404
        headers = {"Content-Disposition": f'attachment; filename="memories-{job.created_at:%Y-%m-%d}.jsonl"'}
        return StreamingHttpResponse(job_lines(job=job), content_type="application/x-ndjson", headers=headers)


class OwnerEraseView(OwnerView):
    powers = {"POST": Power.ADMIN}

    def post(self, request: HttpRequest, owner_id: int) -> HttpResponse:
        owner = self.owner(owner_id)
        form = EraseForm(request.POST)
        if not form.is_valid() or form.cleaned_data["name"] != owner.name:
            form.add_error("name", f"Type the name exactly as it stands above: {owner.name}")
            return self.page(owner, form=form, status=400)
        with self.audited("user.erase", f"{owner.kind} {owner.name}"):
            erased = owner_erase(tenant=self.tenant, kind=owner.kind, name=owner.name, actor=self.actor)
        messages.success(request, f"{owner.name} is erased: {erased.count} facts.")
        return redirect("dashboard:erased", slug=self.tenant.slug, owner_id=owner.pk, event_id=erased.event.pk)


class ErasedView(OwnerView):
    """The report: what went, and what is still to go."""

    powers = {"GET": Power.VIEWER}

    def get(self, request: HttpRequest, owner_id: int, event_id: UUID) -> HttpResponse:  # type: ignore[override]
        owner = self.owner(owner_id)
        event = event_get(tenant=self.tenant, event_id=event_id)
        if event is None or event.event_type != "DELETE_ENTITY":
            raise Http404
        (figures,) = owner_figures(tenant=self.tenant, owners=[owner])
        is_over = not (figures.leaving or figures.facts or figures.bytes)
        return self.show("erased", owner=owner, event=event, figures=figures, is_over=is_over)
