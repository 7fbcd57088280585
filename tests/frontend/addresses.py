"""All addresses of the dashboard, out of its URL map."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from django.urls import URLPattern, URLResolver, reverse
from django.views import View
from tenants.access import Power

from frontend import urls
from frontend.views.base import TenantView

SAMPLES: dict[str, Any] = {"token": "none", "member_id": 0, "owner_id": 0}


@dataclass(frozen=True)
class Address:
    name: str
    view: type[View]
    needs: tuple[str, ...]

    def path(self, slug: str, **given: Any) -> str:
        values = {name: given.get(name, SAMPLES.get(name, uuid4())) for name in self.needs if name != "slug"}
        return reverse(f"dashboard:{self.name}", kwargs={**values, **({"slug": slug} if "slug" in self.needs else {})})

    @property
    def is_tenants(self) -> bool:
        return issubclass(self.view, TenantView)

    @property
    def powers(self) -> Mapping[str, Power]:
        return self.view.powers if issubclass(self.view, TenantView) else {}

    def takes(self, method: str) -> bool:
        return hasattr(self.view, method.lower())


def addresses() -> list[Address]:
    return list(_found(urls.urlpatterns, ()))


def _found(patterns: list[Any], needs: tuple[str, ...]) -> Iterator[Address]:
    for pattern in patterns:
        own = (*needs, *pattern.pattern.converters)
        if isinstance(pattern, URLResolver):
            yield from _found(pattern.url_patterns, own)
        else:
            assert isinstance(pattern, URLPattern)
            yield Address(str(pattern.name), pattern.callback.view_class, own)  # type: ignore[attr-defined]
