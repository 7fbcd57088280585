"""The tenants somebody may look at, side by side."""

from datetime import timedelta
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from tenants.access import tenants_of
from tenants.services import tenant_found
from usage.tenants import tenant_figures

from frontend.forms import TenantForm
from frontend.views.base import SignedInView

PAGE_SIZE = 50
DAY = timedelta(days=1)


class TenantsView(SignedInView):
    """Staff make tenants here."""

    section = "tenants"

    def get(self, request: HttpRequest) -> HttpResponse:
        return self._page()

    def post(self, request: HttpRequest) -> HttpResponse:
        if not self.user.is_staff:
            raise Http404
        form = TenantForm(request.POST)
        if not form.is_valid():
            return self._page(form=form, status=400)
        tenant = tenant_found(name=form.cleaned_data["name"], owner=self.user)
        messages.success(request, f"{tenant.name} is made. It needs a key before an application can use it.")
        return redirect("dashboard:keys", slug=tenant.slug)

    def _page(self, *, status: int = 200, **context: Any) -> HttpResponse:
        query = self.request.GET.get("search", "").strip()
        tenants = tenants_of(self.user)
        if query:
            tenants = tenants.filter(name__icontains=query)
        page = Paginator(tenants, PAGE_SIZE).get_page(self.request.GET.get("page"))
        figures = tenant_figures(list(page), since=timezone.now() - DAY)
        found = {"page": page, "figures": figures, "search": query, "form": TenantForm()}
        return self.show("tenants", status=status, **{**found, **context})
