"""What went wrong and what to do, for people. The memory API answers with JSON of its own."""

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    return _shown(404, "Nothing here")


def refused(request: HttpRequest, exception: Exception) -> HttpResponse:
    return _shown(403, "Not allowed", str(exception))


def broken(request: HttpRequest) -> HttpResponse:
    return _shown(500, "Something broke")


def _shown(kind: int, title: str, reason: str = "") -> HttpResponse:
    """Without anything of the request: what reads the session may be what broke."""
    context = {"kind": kind, "title": title, "reason": reason}
    return HttpResponse(render_to_string("frontend/error.html", context), status=kind)
