"""What a tenant may use and how much of it is used. Staff set the limits."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from tenants.access import Power
from tenants.selectors import tenant_quota
from tenants.services import quota_set

from frontend.quota_form import QuotaForm
from frontend.quotas import quota_rows
from frontend.views.base import TenantView, csv_answer
from frontend.views.settings import SettingsView


class QuotasView(SettingsView):
    powers = {"POST": Power.STAFF}

    def post(self, request: HttpRequest) -> HttpResponse:
        form, quota = QuotaForm(request.POST), tenant_quota(tenant=self.tenant)
        if not form.is_valid():
            return self._page(quota_form=form, status=400)
        if changes := form.changes_to(quota):
            quota_set(tenant=self.tenant, limits=changes, actor=self.actor)
            messages.success(request, "Saved. Where it concerns memory, the engine is told within a minute.")
        else:
            messages.info(request, "The quotas were these already.")
        return redirect("dashboard:settings", slug=self.tenant.slug)


class QuotasCsvView(TenantView):
    powers = {"GET": Power.VIEWER}

    def get(self, request: HttpRequest) -> HttpResponse:
        now = timezone.now().isoformat(timespec="seconds")
        rows = [(row.name, row.used, row.limit, now) for row in quota_rows(self.tenant)]
        return csv_answer(f"{self.tenant.slug}-quotas", ("quota", "used", "limit", "at_utc"), rows)
