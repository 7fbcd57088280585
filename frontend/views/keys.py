"""A tenant's API keys."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from tenants.access import Power
from tenants.selectors import api_key_get, api_keys_list
from tenants.services import api_key_create, api_key_revoke

from frontend.forms import KeyForm
from frontend.views.base import TenantView

PAGE_SIZE = 50


class KeysView(TenantView):
    section = "keys"
    powers = {"GET": Power.VIEWER, "POST": Power.ADMIN}

    def get(self, request: HttpRequest) -> HttpResponse:
        return self._page()

    def post(self, request: HttpRequest) -> HttpResponse:
        """Answers with the key itself, this once."""
        form = KeyForm(request.POST, for_owner=self.access.owns)
        if not form.is_valid():
            return self._page(form=form, status=400)
        given = form.cleaned_data
        api_key, raw = api_key_create(
            tenant=self.tenant,
            name=given["name"],
            scopes=given["scopes"],
            expires_at=form.expires_at(),
            requests_per_minute=given["requests_per_minute"],
            actor=self.actor,
        )
        return self._page(made=api_key, raw=raw, status=201)

    def _page(self, *, status: int = 200, **context: Any) -> HttpResponse:
        page = Paginator(api_keys_list(tenant=self.tenant), PAGE_SIZE).get_page(self.request.GET.get("page"))
        form = KeyForm(for_owner=self.access.owns)
        return self.show("keys", status=status, **{"form": form, "page": page, "now": timezone.now(), **context})


class KeyRevokeView(TenantView):
    powers = {"POST": Power.ADMIN}

    def post(self, request: HttpRequest, key_id: UUID) -> HttpResponse:
        api_key = api_key_get(tenant=self.tenant, key_id=key_id)
        if api_key is None:
            raise Http404
        api_key_revoke(api_key=api_key, actor=self.actor)
        messages.success(request, f"The key “{api_key.name}” works no more.")
        return redirect("dashboard:keys", slug=self.tenant.slug)
