"""Finds the facts of a conversation with a model, and stores those that were really said."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from django.conf import settings
from facts.errors import InvalidInputError
from facts.inputs import ExtractionWishes, FoundFact, Pair
from facts.models import Event, Extraction
from facts.selectors import extraction_turns, pairs_unsure
from facts.services import extraction_is_wanted, facts_remember
from facts.text import clean_fact_text
from facts.truth import Relation, resolve_dates, says_something, source_of

from memory.keys import cache_salt
from memory.text import clean_text
from workers.chat import Answer, AnswerCut, ChatModel
from workers.passages import Passage, halves, passages
from workers.port import EngineBroke, EngineRefused
from workers.questions import MOST_CATEGORIES, find_messages, find_schema, judge_messages, judge_schema

FIND_TOKENS = 1024
JUDGE_TOKENS = 32
MOST_JUDGED = 8  # pairs a conversation
SECOND_TEMPERATURE = 0.5  # where the likeliest answer was of no use

logger = logging.getLogger(__name__)


@dataclass
class Spent:
    prompt_tokens: int = 0
    output_tokens: int = 0

    def add(self, answer: Answer) -> None:
        self.prompt_tokens += answer.prompt_tokens
        self.output_tokens += answer.output_tokens


@dataclass(frozen=True, slots=True)
class Extractor:
    """Runs in the tenant's scope. Nothing is stored before all is known, so every step may be repeated.

    `special_tokens`: the model's control strings, which no turn may bring into its prompt.
    """

    model: ChatModel
    special_tokens: Sequence[str] = ()
    temperature: float = 0.0
    spent: Spent = field(default_factory=Spent)

    def extract(self, extraction: Extraction) -> Event | None:
        """The ended event; None when it was called off meanwhile.

        Raises EngineDown and EngineBroke, with nothing stored, and EngineRefused when it is of no use to ask again.
        """
        found = list[FoundFact]()
        for passage in passages(extraction_turns(extraction=extraction)):
            if not extraction_is_wanted(extraction=extraction):
                return None
            if any(says_something(piece.text) for piece in passage):
                found += self._find(extraction, passage)
        pairs = pairs_unsure(extraction=extraction, found=found, limit=MOST_JUDGED)
        judged = {pair.hashes: self._judge(extraction, pair) for pair in pairs}
        return facts_remember(
            extraction=extraction,
            found=found,
            judged=judged,
            prompt_tokens=self.spent.prompt_tokens,
            output_tokens=self.spent.output_tokens,
        )

    def _find(self, extraction: Extraction, passage: Passage) -> list[FoundFact]:
        """What is too long for the model, or its answer, is asked for in halves."""
        try:
            answer = self._ask_for_facts(extraction, passage)
        except (EngineRefused, AnswerCut):
            parts = halves(passage)
            if parts is None:
                raise
            return [fact for part in parts for fact in self._find(extraction, part)]
        given = answer.data.get("facts")
        if not isinstance(given, list):
            raise EngineBroke("the model's answer has no list of facts")
        offered = {clean_text(name, self.special_tokens): name for name in extraction.known_categories}
        said = [(fact, _said(fact, passage, offered)) for fact in given]
        if invented := sum(fact is None for _, fact in said):
            logger.info("event %s: %d of %d facts are in no turn", extraction.pk, invented, len(said))
        return [fact for _, fact in said if fact is not None]

    def _ask_for_facts(self, extraction: Extraction, passage: Passage) -> Answer:
        turns = [
            (piece.turn.role, piece.turn.occurred_at, clean_text(piece.text, self.special_tokens)) for piece in passage
        ]
        wishes = ExtractionWishes(
            instructions=clean_text(extraction.instructions, self.special_tokens),
            includes=clean_text(extraction.includes, self.special_tokens),
            excludes=clean_text(extraction.excludes, self.special_tokens),
            categories={
                clean_text(name, self.special_tokens): clean_text(meaning, self.special_tokens)
                for name, meaning in extraction.known_categories.items()
            },
        )
        answer = self.model.ask(
            find_messages(turns, wishes),
            find_schema([text for *_, text in turns], wishes.categories, bounded=self.model.is_engine),
            name="facts",
            max_tokens=FIND_TOKENS,
            temperature=self.temperature,
            cache_salt=_salt(extraction),
        )
        self.spent.add(answer)
        return answer

    def _judge(self, extraction: Extraction, pair: Pair) -> Relation:
        """Asked both ways round: a model that only guesses seldom says the same of both."""
        try:
            relation = self._ask_how(extraction, pair.stored, pair.new)
            if relation is Relation.DIFFERENT:
                return relation
            swapped = self._ask_how(extraction, pair.new, pair.stored)
            return relation if swapped is relation else Relation.DIFFERENT
        except (EngineRefused, EngineBroke) as error:
            logger.warning("event %s: two facts stay beside each other: %s", extraction.pk, error)
            return Relation.DIFFERENT

    def _ask_how(self, extraction: Extraction, older: str, newer: str) -> Relation:
        answer = self.model.ask(
            judge_messages(clean_text(older, self.special_tokens), clean_text(newer, self.special_tokens)),
            judge_schema(),
            name="relation",
            max_tokens=JUDGE_TOKENS,
            cache_salt=_salt(extraction),
        )
        self.spent.add(answer)
        match answer.data:
            case {"same": True, "contradicts": False}:
                return Relation.SAME
            case {"same": False, "contradicts": True}:
                return Relation.CONTRADICTS
        return Relation.DIFFERENT


def _said(given: object, passage: Passage, categories: Mapping[str, str]) -> FoundFact | None:
    """The fact with its turn; None for what is no sentence, or in no turn. `categories`: as offered, and as stored."""
    if not isinstance(given, dict):
        return None
    try:
        text = clean_fact_text(given.get("text"))
    except InvalidInputError:
        return None
    number = given.get("turn")
    claimed = number - 1 if isinstance(number, int) else None
    source = source_of(text, [piece.text for piece in passage], claimed=claimed)
    if source is None:
        return None
    turn = passage[source].turn
    named = given.get("categories")
    chosen = [categories.get(str(name), "") for name in named] if isinstance(named, list) else []
    dated = resolve_dates(text, turn.occurred_at.date())
    return FoundFact(dated, turn.pk, turn.occurred_at, tuple(dict.fromkeys(filter(None, chosen)))[:MOST_CATEGORIES])


def _salt(extraction: Extraction) -> str:
    return cache_salt(
        settings.SALT_SECRET,
        tenant=str(extraction.tenant_id),
        owner=str(extraction.owner_id),
        kind="extract",
        strategy="",
        epoch=extraction.owner.erasure_epoch,
    )
