"""A chat with its owner's memory, before anything of it is sent, kept or counted."""

from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any, Literal

from facts.embedding import query_embedding
from facts.models import Owner
from facts.selectors import owner_get
from tenants.models import Tenant

from inference.gateway.fitting import FittedPrompt, fit_layout, fit_prompt
from inference.gateway.injection import Injection, plan_injection
from inference.gateway.options import MemoryOptions
from inference.gateway.plan import Served
from inference.gateway.recall import Recalled, recall
from inference.gateway.runtime import Runtime
from inference.gateway.session import continue_session
from inference.gateway.sessions import Session, session_of
from inference.gateway.stages import Stages
from memory.encoding import text_tail
from memory.prompt.messages import Message, last_user_text

SPARE = 0.1  # of the model's length


@dataclass(frozen=True, slots=True)
class Draft:
    """Without `prompt` the chat has no facts; without `owner` nobody of that name is known."""

    messages: list[Message]
    owner: Owner | None
    session: Session | None
    recalled: Recalled
    prompt: FittedPrompt | None
    is_kept: bool
    injection: Injection
    retrieval_ms: float

    @property
    def epoch(self) -> int:
        return self.owner.erasure_epoch if self.owner else 0

    @property
    def mode(self) -> Served:
        return "inject" if self.injection.segments else "prompt" if self.prompt else "none"

    @property
    def session_state(self) -> Literal["new", "kept"] | None:
        if self.prompt is None or self.session is None:
            return None
        return "kept" if self.is_kept else "new"

    def keep_session(self) -> None:
        if self.session and self.prompt and self.prompt.composed:
            self.session.keep(self.prompt.layout, self.messages, epoch=self.epoch)


def draft_chat(
    runtime: Runtime,
    tenant: Tenant,
    body: dict[str, Any],
    messages: list[Message],
    options: MemoryOptions,
    stages: Stages,
    *,
    others: int = 0,
) -> Draft:
    """`others`: how many facts that are left out are told beside those used. Raises ApiError."""
    started = perf_counter()
    question = last_user_text(messages)
    # Goes on while the database is asked.
    query = query_embedding(question, model=tenant.embedding_model) if question.strip() else None
    owner = owner_get(tenant=tenant, scopes=options.scopes)
    stages.end("owner")
    session, recalled = None, Recalled()
    if owner is not None:
        session = session_of(tenant, owner, options, messages, fingerprint=runtime.model.fingerprint)
        fact_ids: Sequence[Any] = session.state.fact_ids if session and session.state else ()
        stages.end("session")
        recalled = recall(runtime, tenant, owner, question, query, options, stages, fact_ids=fact_ids, others=others)
    retrieval_ms = (perf_counter() - started) * 1000
    epoch = owner.erasure_epoch if owner else 0
    prompt, is_kept = _fit(runtime, body, messages, recalled, session, epoch)
    stages.end("prompt")
    injection = Injection()
    if prompt is not None:
        tail = text_tail(tenant.strategy)
        injection = plan_injection(runtime, options, messages, prompt, recalled.header, text_tail=tail)
    stages.end("segments")
    return Draft(messages, owner, session, recalled, prompt, is_kept, injection, retrieval_ms)


def _fit(
    runtime: Runtime,
    body: dict[str, Any],
    messages: list[Message],
    recalled: Recalled,
    session: Session | None,
    epoch: int,
) -> tuple[FittedPrompt | None, bool]:
    """The prompt with the session's facts, and True, as long as they hold and fit; else with those chosen now."""
    layout = prompt = None
    if session and session.state:
        layout = continue_session(session.state, recalled.known, recalled.chosen, messages, epoch=epoch)
        prompt = fit_layout(runtime, body, messages, layout) if layout else None
    is_kept = prompt is not None
    if layout and prompt is None:  # begun anew with room for some turns, or it would be at each
        spare = int(runtime.max_model_len * SPARE)
        prompt = fit_prompt(runtime, body, messages, recalled.chosen, spare=spare)
    return prompt or fit_prompt(runtime, body, messages, recalled.chosen), is_kept
