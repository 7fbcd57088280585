"""What the gateway makes of one request."""

from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

from inference.gateway.conversation import Conversation
from inference.gateway.stages import Stages

Served = Literal["none", "prompt", "inject"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """`body` goes to vLLM. Token counts are None where the gateway did not tokenise; `conversation`: to remember.

    `fact_ids` in the order of the prompt, so that those to be injected are the first `facts_injected`.
    """

    tenant_id: UUID
    body: dict[str, Any]
    stages: Stages
    mode: Served = "none"
    owner_name: str = ""
    fact_ids: tuple[UUID, ...] = ()
    facts_injected: int = 0
    prompt_tokens: int | None = None
    tokens_injected: int = 0
    retrieval_ms: float | None = None
    hide_usage: bool = False
    conversation: Conversation | None = None
    session: Literal["new", "kept"] | None = None

    @property
    def facts(self) -> int:
        return len(self.fact_ids)

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
        if self.session is not None:
            fields["x-inferscale-session"] = self.session
        if self.conversation is not None:
            fields["x-inferscale-write"] = str(self.conversation.event_id)
        fields["server-timing"] = self.stages.header
        return fields
