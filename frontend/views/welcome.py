"""From nothing to the first answer: account, tenant, key, two commands."""

from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.auth import login
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from facts.selectors import memory_figures
from tenants.access import Power
from tenants.models import Tenant
from tenants.services import api_key_create, tenant_found
from tenants.setup import SetupOverError, WrongCodeError, first_account_create, setup_is_open
from usage.selectors import request_records

from frontend.forms import FirstAccountForm, TenantForm
from frontend.views.base import OpenView, SignedInView, TenantView
from memory.models import served_name

LOOPBACK = ("127.0.0.1", "localhost", "::1", "0.0.0.0")
NO_KEY = "YOUR_KEY"


class WelcomeView(OpenView):
    """The first account, while there is none; then on to the first tenant."""

    def get(self, request: HttpRequest) -> HttpResponse:
        if not setup_is_open():
            return redirect("dashboard:first-tenant")
        return self._page(FirstAccountForm(initial={"code": request.GET.get("code", "")}))

    def post(self, request: HttpRequest) -> HttpResponse:
        form = FirstAccountForm(request.POST)
        if not form.is_valid():
            return self._page(form, status=400)
        try:
            login(request, first_account_create(**form.cleaned_data), settings.PASSWORD_BACKEND)
        except WrongCodeError as error:
            form.add_error("code", str(error))
            return self._page(form, status=400)
        except SetupOverError:
            return redirect("dashboard:login")
        return redirect("dashboard:first-tenant")

    def _page(self, form: FirstAccountForm, *, status: int = 200) -> HttpResponse:
        return self.show("welcome", status=status, form=form, step=1)


class FirstTenantView(SignedInView):
    """Only while there is no tenant; others are made on the tenants' page."""

    def enter(self, request: HttpRequest, **kwargs: Any) -> HttpResponseBase:
        if request.user.is_authenticated and (not self.user.is_staff or Tenant.objects.exists()):
            return redirect("dashboard:home")
        return super().enter(request, **kwargs)

    def get(self, request: HttpRequest) -> HttpResponse:
        return self.show("welcome", form=TenantForm(), step=2)

    def post(self, request: HttpRequest) -> HttpResponse:
        """Answers with the key itself, this once."""
        form = TenantForm(request.POST)
        if not form.is_valid():
            return self.show("welcome", status=400, form=form, step=2)
        tenant = tenant_found(name=form.cleaned_data["name"], owner=self.user)
        _, raw = api_key_create(tenant=tenant, name="first key", actor=self.actor)
        return self.show("welcome", status=201, tenant=tenant, step=3, **connect_context(request, raw))


class ConnectView(TenantView):
    """The two commands again, for a key that is known."""

    section = "connect"
    powers = {"GET": Power.VIEWER}

    def get(self, request: HttpRequest) -> HttpResponse:
        return self.show("connect", **connect_context(request, NO_KEY))


class ConnectProgressView(TenantView):
    """How far a new tenant has come."""

    powers = {"GET": Power.VIEWER}

    def get(self, request: HttpRequest) -> HttpResponse:
        memory = memory_figures(tenant=self.tenant)
        first = request_records(tenant=self.tenant).filter(status=200).exclude(mode="none").first()
        return self.show("parts/progress", memory=memory, first_answer=first)


def connect_context(request: HttpRequest, key: str) -> dict[str, Any]:
    env = settings.ENV
    return {
        "key": key,
        "has_key": key != NO_KEY,
        "web_url": f"{request.scheme}://{request.get_host()}",
        "chat_url": f"{_as_seen_from(request, env.engine_base_url)}/v1",
        "model": served_name(env.model, env.home),
    }


def _as_seen_from(request: HttpRequest, url: str) -> str:
    """An engine on this machine has, for who comes from another, this machine's name."""
    parts = urlsplit(url)
    seen = urlsplit(f"//{request.get_host()}").hostname or ""
    if parts.hostname not in LOOPBACK or seen in LOOPBACK:
        return url
    host = f"[{seen}]" if ":" in seen else seen
    return f"{parts.scheme}://{host}:{parts.port}" if parts.port else f"{parts.scheme}://{host}"
