"""The playground: one question, asked with memory injected and as text, side by side."""

import json
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from facts.models import OwnerKind
from facts.selectors import owners_browse
from tenants.access import Power

from frontend.engine import engine_key
from frontend.playground import Question, told
from frontend.views.base import TenantView

MODES = {"auto": "Memory injected", "prompt": "Memory as text", "off": "No memory"}
MOST_MESSAGES, LONGEST, MOST_TOKENS = 100, 20_000, 1024
SUGGESTED = 50


class PlaygroundView(TenantView):
    section = "playground"
    powers = {"GET": Power.VIEWER}

    def get(self, request: HttpRequest) -> HttpResponse:
        users = owners_browse(tenant=self.tenant, kind=OwnerKind.USER)[:SUGGESTED]
        user = request.GET.get("user", "")
        return self.show("playground", modes=MODES, users=users, chosen=user, columns=("auto", "prompt"))


class PlaygroundChatView(TenantView):
    """Lines of JSON, as the answer comes."""

    powers = {"POST": Power.ADMIN}

    def post(self, request: HttpRequest) -> HttpResponseBase:
        try:
            question = _read(request.body)
        except (ValueError, TypeError, KeyError) as error:
            return JsonResponse({"kind": "error", "message": f"The question cannot be read: {error}"}, status=400)
        key = engine_key(self.tenant)
        with self.audited("playground.chat", f"user {question.user}", mode=question.mode):
            return StreamingHttpResponse(told(question, key), content_type="application/x-ndjson")


def _read(body: bytes) -> Question:
    """Raises ValueError, TypeError, KeyError."""
    given: dict[str, Any] = json.loads(body)
    messages = [{"role": str(one["role"]), "content": str(one["content"])} for one in given["messages"]]
    if not messages or len(messages) > MOST_MESSAGES or sum(len(one["content"]) for one in messages) > LONGEST:
        raise ValueError(f"it takes 1 to {MOST_MESSAGES} messages of together at most {LONGEST} characters")
    mode, user = str(given["mode"]), str(given["user"]).strip()
    if mode not in MODES:
        raise ValueError(f"mode is one of {', '.join(MODES)}")
    if not user and mode != "off":
        raise ValueError("name the user whose memory is used")
    tokens = max(1, min(MOST_TOKENS, int(given.get("max_tokens", 128))))
    return Question(user or "nobody", messages, mode, tokens, bool(given.get("fresh", True)))
