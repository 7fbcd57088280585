"""What a chat's memory would be, told fact by fact: the answer of the path that explains a chat."""

from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from inference.gateway.injection import Stop
from inference.gateway.plan import Served
from memory.prompt import PieceKind

Ranking = Literal["reranker", "vectors and words", "vectors", "age"]
AsText = Stop | Literal["kv", "tail", "joined"]
"""`kv`: it or one before it has none yet; `tail`: the strategy has it computed; `joined`: a session, after it began."""
LeftOut = Literal["top_k", "threshold", "length", "repeat"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores:
    """Ranks from 1 on. All None for a fact without a vector, and where no question was embedded.

    `cosine` is the similarity with the question, `rank` the place that it gives, `word_rank` the place by words,
    `fused` the sum of both places' shares, which makes the order; `relevance` is the reranker's, which makes that of
    the facts that it saw.
    """

    cosine: float | None = None
    rank: int | None = None
    word_rank: int | None = None
    fused: float | None = None
    relevance: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UsedFact:
    """`position` in the prompt, from 1 on; `tokens` there, None where they are not known; `reason` why it is text."""

    id: UUID
    text: str
    has_kv: bool
    has_vector: bool
    scores: Scores
    position: int
    tokens: int | None
    use: Literal["injected", "text"]
    reason: AsText | None


@dataclass(frozen=True, slots=True, kw_only=True)
class UnusedFact:
    id: UUID
    text: str
    has_kv: bool
    has_vector: bool
    scores: Scores
    reason: LeftOut


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptPart:
    """`fact_id`: whose line it is. Parts one after the other are the prompt."""

    kind: PieceKind
    text: str
    tokens: int
    injected: bool
    fact_id: UUID | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptSeen:
    """`room`: the tokens that it may have beside the answer's. Without parts the template refused the chat."""

    tokens: int | None
    tokens_injected: int
    room: int
    parts: tuple[PromptPart, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnerSeen:
    """`candidates`: the facts that hold now and are of the names and filters asked for."""

    facts: int
    candidates: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """`owner` is None for one that is not known. Facts stand in the order of their ranking, the best first."""

    mode: Served
    owner: OwnerSeen | None
    top_k: int
    threshold: float | None
    ranked_by: Ranking
    facts: tuple[UsedFact, ...]
    left_out: tuple[UnusedFact, ...]
    prompt: PromptSeen
    session: Literal["new", "kept"] | None
    retrieval_ms: float
