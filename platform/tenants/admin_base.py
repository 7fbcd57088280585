"""Model admins of tenant-owned models. Staff run the platform: the admin sees every tenant, and only here."""

# unfold has no types, and forms.ModelForm takes none at runtime:
# mypy: disable-error-code="misc, no-any-return, type-arg, untyped-decorator, unused-ignore"

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern
from unfold.admin import ModelAdmin

from tenants.scope import every_tenant


class EveryTenantAdmin(ModelAdmin):
    """Views and their templates run with the tenant scope lifted."""

    list_per_page = 50
    show_full_result_count = False

    def get_urls(self) -> list[URLPattern]:
        urls: list[URLPattern] = super().get_urls()
        for url in urls:
            url.callback = _in_every_tenant(url.callback)
        return urls

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        with every_tenant():  # also called from the site's autocomplete view
            queryset: QuerySet[Any] = super().get_queryset(request)
            return queryset


class ReadOnlyAdmin(EveryTenantAdmin):
    """Rows that only services write."""

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


def _in_every_tenant(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    @wraps(view)
    def run(*args: Any, **kwargs: Any) -> HttpResponse:
        with every_tenant():
            response = view(*args, **kwargs)
            if hasattr(response, "render") and callable(response.render):
                response.render()  # here, where its queries may still run
            return response

    return run
