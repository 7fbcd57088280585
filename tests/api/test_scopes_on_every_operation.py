"""Every operation asks for a scope, and refuses a key that lacks it."""

from typing import Any

import pytest
from api.views.base import TenantView
from django.urls import URLPattern, get_resolver
from django.urls.resolvers import RoutePattern
from tenants.models import Tenant
from tenants.services import api_key_create

from tests.api.conftest import Caller

METHODS = ("get", "post", "put", "patch", "delete")
UUID = "123e4567-e89b-12d3-a456-426614174000"
EVERY = {"read", "write", "chat", "admin"}


def operations() -> list[tuple[str, str, str | None]]:
    """Path, method and scope of all calls that take a key."""
    found = []
    for pattern in patterns(get_resolver().url_patterns):
        view = getattr(pattern.callback, "cls", None)
        if isinstance(view, type) and issubclass(view, TenantView):
            assert isinstance(pattern.pattern, RoutePattern)
            path = str(pattern.pattern)
            for method in METHODS:
                if hasattr(view, method):
                    found.append((path, method, view.key_scopes[method.upper()]))
    return found


def patterns(urls: list[Any]) -> list[URLPattern]:
    return [found for url in urls for found in ([url] if isinstance(url, URLPattern) else patterns(url.url_patterns))]


def test_only_the_call_that_checks_a_key_takes_any_key() -> None:
    assert [path for path, _, scope in operations() if scope is None] == ["v1/ping/"]
    assert {scope for _, _, scope in operations()} == {None, "read", "write", "admin"}


@pytest.mark.parametrize(("path", "method", "scope"), [entry for entry in operations() if entry[2]])
def test_a_key_without_the_scope_is_403(tenant: Tenant, path: str, method: str, scope: str) -> None:
    lacking = Caller(api_key_create(tenant=tenant, name="lacking", scopes=sorted(EVERY - {scope}))[1])
    url = "/" + path
    for name in ("str:memory_id", "str:event_id", "str:org_id", "str:project_id", "str:export_id", "str:import_id"):
        url = url.replace(f"<{name}>", UUID)
    for name in ("str:job_id", "str:key_id", "str:entity_type", "path:name", "str:webhook_id"):
        url = url.replace(f"<{name}>", "1")
    assert "<" not in url
    response = lacking.client.generic(method.upper(), url, "{}", content_type="application/json")
    assert (response.status_code, scope in response.json()["detail"]) == (403, True)
