"""A tenant's settings, and closing it."""

from datetime import UTC, datetime, timedelta
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from facts.selectors import memory_figures
from tenants.access import Power
from tenants.selectors import project_settings, tenant_quota
from tenants.services import project_settings_update, tenant_close, tenant_reopen, tenant_update
from usage.traffic import traffic

from frontend.forms import ExtractionForm, SettingsForm
from frontend.quota_form import QuotaForm
from frontend.quotas import quota_rows
from frontend.views.base import TenantView
from memory.models import served_name

DAY = timedelta(days=1)


class SettingsView(TenantView):
    section = "settings"
    powers = {"GET": Power.VIEWER, "POST": Power.ADMIN}

    def get(self, request: HttpRequest) -> HttpResponse:
        return self._page()

    def post(self, request: HttpRequest) -> HttpResponse:
        form = SettingsForm(request.POST)
        if not form.is_valid():
            return self._page(form=form, status=400)
        strategy_before = self.tenant.strategy
        tenant_update(tenant=self.tenant, actor=self.actor, **form.cleaned_data)
        changed = form.cleaned_data["strategy"] != strategy_before
        said = "Saved. All facts are encoded anew; until then they are sent as text." if changed else "Saved."
        messages.success(request, said)
        return redirect("dashboard:settings", slug=self.tenant.slug)

    def _page(self, *, status: int = 200, **forms: Any) -> HttpResponse:
        env, kept, now = settings.ENV, project_settings(tenant=self.tenant), timezone.now()
        return self.show(
            "settings",
            status=status,
            **{
                "form": SettingsForm(initial={"name": self.tenant.name, "strategy": self.tenant.strategy}),
                "extraction": ExtractionForm(
                    initial={"custom_instructions": kept.custom_instructions, "multilingual": kept.multilingual}
                ),
                "memory": memory_figures(tenant=self.tenant),
                "quotas": quota_rows(self.tenant),
                "quota_form": QuotaForm.of(tenant_quota(tenant=self.tenant)),
                "month": traffic(tenant=self.tenant, since=_month(now), until=now, step=DAY).all,
                "model": served_name(env.model, env.home),
                "embedding_model": env.embedding_model,
                **forms,
            },
        )


def _month(now: datetime) -> datetime:
    """Its beginning in UTC."""
    return now.astimezone(UTC).replace(day=1, hour=0, minute=0, second=0, microsecond=0)


class ExtractionView(SettingsView):
    powers = {"POST": Power.ADMIN}

    def post(self, request: HttpRequest) -> HttpResponse:
        form = ExtractionForm(request.POST)
        if not form.is_valid():
            return self._page(extraction=form, status=400)
        project_settings_update(tenant=self.tenant, changes=form.cleaned_data, actor=self.actor)
        messages.success(request, "Saved. It counts for conversations that come from now on.")
        return redirect("dashboard:settings", slug=self.tenant.slug)


class PauseView(TenantView):
    powers = {"POST": Power.OWNER}

    def post(self, request: HttpRequest) -> HttpResponse:
        tenant_close(tenant=self.tenant, actor=self.actor)
        messages.success(request, "The tenant is paused: its keys work no more. Nothing was erased.")
        return redirect("dashboard:settings", slug=self.tenant.slug)


class ResumeView(TenantView):
    powers = {"POST": Power.STAFF}

    def post(self, request: HttpRequest) -> HttpResponse:
        tenant_reopen(tenant=self.tenant, actor=self.actor)
        messages.success(request, "The tenant's keys work again.")
        return redirect("dashboard:settings", slug=self.tenant.slug)
