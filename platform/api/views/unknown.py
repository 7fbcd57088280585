"""Paths that are no call: JSON like every other error, and a hint at the usual slip."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import NotFound
from rest_framework.request import Request

from api.views.health import OpenView


@extend_schema(exclude=True)
class UnknownPathView(OpenView):
    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        hint = "" if request.path.endswith("/") else " Every path ends with a slash."
        raise NotFound(f"There is no call {request.method} {request.path}.{hint} See /api/docs/.")
