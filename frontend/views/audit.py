"""Who changed what."""

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from tenants.access import Power
from tenants.selectors import audit_actions, audit_list

from frontend.views.base import TenantView

PAGE_SIZE = 50


class AuditView(TenantView):
    section = "audit"
    powers = {"GET": Power.ADMIN}

    def get(self, request: HttpRequest) -> HttpResponse:
        actor, action = request.GET.get("actor", "").strip(), request.GET.get("action", "")
        entries = audit_list(tenant=self.tenant, actor=actor, action=action)
        page = Paginator(entries, PAGE_SIZE).get_page(request.GET.get("page"))
        actions = audit_actions(tenant=self.tenant)
        return self.show("audit", page=page, actor=actor, action=action, actions=actions)
