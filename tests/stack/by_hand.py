"""Injection asked for with the workers' own key, past the gateway's planning: what the engine would do if told to."""

from collections.abc import Mapping, Sequence
from uuid import UUID, uuid4

from django.conf import settings
from facts.models import Encoding

from memory.contracts import InjectParams, Segment
from memory.digest import token_digest
from tests.stack.app import App


def segments_in(prompt: Sequence[int], encodings: Mapping[UUID | None, Encoding]) -> list[Segment]:
    """The header and the facts in the order in which they stand in the prompt, found by their tokens' digests."""
    left = [Segment(entry.key, entry.tokens or 0, entry.digest) for entry in encodings.values()]
    found: list[Segment] = []
    at = 0
    while standing := [s for s in left if token_digest(prompt[at : at + s.tokens]) == s.digest]:
        found.append(standing[0])
        left.remove(standing[0])
        at += standing[0].tokens
    return found


def inject_by_hand(app: App, prompt: Sequence[int], segments: Sequence[Segment], *, salt: str = "") -> int:
    """How many of the prompt's tokens were injected."""
    body = {
        "model": app.model,
        "prompt": list(prompt),
        "max_tokens": 1,
        "cache_salt": salt or uuid4().hex,
        "kv_transfer_params": InjectParams(str(app.tenant.pk), tuple(segments)).to_params(),
    }
    headers = {"authorization": f"Bearer {settings.ENGINE_SERVICE_KEY}"}
    answer = app.engine_api("POST", "/v1/completions", json=body, headers=headers).raise_for_status().json()
    return int((answer["usage"]["prompt_tokens_details"] or {}).get("cached_tokens") or 0)
