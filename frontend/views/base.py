"""Who gets in. Every page and action of the dashboard is one of these views; tests hold that there is no other."""

import csv
import logging
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, ClassVar, TypeVar
from urllib.parse import quote

from django.contrib.auth.models import User
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.db import InterfaceError, OperationalError, transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.template.loader import render_to_string
from django.template.response import TemplateResponse
from django.urls import reverse
from django.views import View
from django_htmx.http import HttpResponseClientRedirect
from django_htmx.middleware import HtmxDetails
from tenants.access import Access, Power, access_get, tenants_of
from tenants.audit import audit_record
from tenants.models import Tenant
from tenants.scope import tenant_scope

from frontend.navigation import GROUPS

logger = logging.getLogger(__name__)

Response = TypeVar("Response", bound=HttpResponseBase)
CONTENT_POLICY = "; ".join(
    (
        "default-src 'self'",
        "img-src 'self' data:",
        "object-src 'none'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    )
)


def secured(response: Response) -> Response:
    """Its page loads nothing from elsewhere, and no cache keeps it."""
    response.headers["Content-Security-Policy"] = CONTENT_POLICY
    response.headers["Referrer-Policy"] = "same-origin"
    response.headers.setdefault("Cache-Control", "no-store")
    return response


def csv_answer(name: str, header: Iterable[object], rows: Iterable[Iterable[object]]) -> HttpResponse:
    """A file to download, `name` without its ending."""
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    response.headers["Content-Disposition"] = f'attachment; filename="{name}.csv"'
    writer = csv.writer(response)
    writer.writerow(header)
    writer.writerows(rows)
    return response


class OpenView(View):
    """For anybody. Its pages load nothing from elsewhere, and no cache keeps them."""

    section: ClassVar[str] = ""

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        response: HttpResponseBase
        try:
            response = self.enter(request, **kwargs)
        except (OperationalError, InterfaceError):
            logger.exception("the database does not answer")
            response = HttpResponse(render_to_string("frontend/away.html"), status=503)
        return secured(response)

    def enter(self, request: HttpRequest, **kwargs: Any) -> HttpResponseBase:
        """Rendered before it returns, while a scope that the view opened is open."""
        response = super().dispatch(request, **kwargs)
        return response.render() if isinstance(response, TemplateResponse) else response

    def show(self, template: str, *, status: int = 200, **context: Any) -> HttpResponse:
        """A page; for htmx only what stands in its main block."""
        layout = "fragment" if self.htmx and not self.htmx.boosted else "page"
        shared = {"layout": f"frontend/{layout}.html", "section": self.section, **self.shared()}
        return TemplateResponse(self.request, f"frontend/{template}.html", {**shared, **context}, status=status)

    @property
    def htmx(self) -> HtmxDetails:
        """What htmx says of the request; false when it did not send it."""
        details: HtmxDetails = self.request.htmx  # type: ignore[attr-defined]
        return details

    def shared(self) -> dict[str, Any]:
        """What every template of this kind of view may use."""
        return {}


class SignedInView(OpenView):
    """For whoever has an account."""

    def enter(self, request: HttpRequest, **kwargs: Any) -> HttpResponseBase:
        return super().enter(request, **kwargs) if request.user.is_authenticated else self._to_login()

    @property
    def user(self) -> User:
        assert isinstance(self.request.user, User)
        return self.request.user

    @property
    def actor(self) -> str:
        """As the audit trail names people."""
        return f"user:{self.user.get_username()}"

    def shared(self) -> dict[str, Any]:
        return {"tenants": list(tenants_of(self.user)), "groups": GROUPS}

    def _to_login(self) -> HttpResponse:
        login = reverse("dashboard:login")
        if self.htmx:
            return HttpResponseClientRedirect(f"{login}?next={quote(self.htmx.current_url_abs_path or '/')}")
        return redirect_to_login(self.request.get_full_path(), login)


class StaffView(SignedInView):
    """For those who run the platform."""

    def enter(self, request: HttpRequest, **kwargs: Any) -> HttpResponseBase:
        if request.user.is_authenticated and not self.user.is_staff:
            raise Http404
        return super().enter(request, **kwargs)


class TenantView(SignedInView):
    """Runs and renders in the scope of the tenant that its address names.

    Who is no member of it gets 404, as for one that does not exist. `powers` names the least that each method needs;
    a method left out is closed.
    """

    powers: ClassVar[Mapping[str, Power]]
    access: Access

    def enter(self, request: HttpRequest, **kwargs: Any) -> HttpResponseBase:
        if not request.user.is_authenticated:
            return self._to_login()
        access = access_get(user=request.user, slug=kwargs.pop("slug"))
        if access is None:
            raise Http404
        self.access = access
        self._check_power(str(request.method))
        with tenant_scope(access.tenant):
            return super().enter(request, **kwargs)

    @property
    def tenant(self) -> Tenant:
        return self.access.tenant

    def shared(self) -> dict[str, Any]:
        return {**super().shared(), "access": self.access, "tenant": self.tenant}

    @contextmanager
    def audited(self, action: str, target: object = "", **details: Any) -> Iterator[None]:
        """Around what no service notes by itself: done and noted, or neither. `details` never hold a memory's text."""
        with transaction.atomic():
            yield
            audit_record(tenant=self.tenant, actor=self.actor, action=action, target=str(target)[:255], details=details)

    def _check_power(self, method: str) -> None:
        needed = self.powers.get("GET" if method == "HEAD" else method)
        if needed is None:
            if hasattr(self, method.lower()):
                raise PermissionDenied(f"{method} is closed here.")
        elif self.access.power < needed:
            reason = f"You are {self.access.role} of {self.tenant}; this needs the role {needed.name.lower()}."
            raise PermissionDenied(reason)
