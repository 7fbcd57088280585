"""What the gateway makes of one request."""

from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

Served = Literal["none", "prompt", "inject"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """`body` goes to vLLM. Token counts are None where the gateway did not tokenise."""

    tenant_id: UUID
    body: dict[str, Any]
    mode: Served = "none"
    owner_name: str = ""
    facts: int = 0
    prompt_tokens: int | None = None
    tokens_injected: int = 0
    retrieval_ms: float | None = None
    hide_usage: bool = False

    @property
    def headers(self) -> dict[str, str]:
        fields = {
            "x-inferscale-mode": self.mode,
            "x-inferscale-facts": str(self.facts),
            "x-inferscale-tokens-injected": str(self.tokens_injected),
        }
        if self.prompt_tokens is not None:
            fields["x-inferscale-tokens-text"] = str(self.prompt_tokens - self.tokens_injected)
        if self.retrieval_ms is not None:
            fields["x-inferscale-retrieval-ms"] = f"{self.retrieval_ms:.2f}"
        return fields
