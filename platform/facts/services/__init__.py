"""Writes on memory. Each is one transaction under the owner's row lock; tasks are sent after the commit."""

from facts.inputs import (
    UNSET,
    AddedFact,
    AddResult,
    ComingBlob,
    DeleteResult,
    Details,
    ExtractionWishes,
    FactUpdate,
    FoundFact,
    MadeBlob,
    Message,
    Pair,
)
from facts.services.add import facts_add
from facts.services.announce import encodings_announce
from facts.services.delete import fact_delete, facts_delete, facts_delete_many
from facts.services.embed import facts_embed_missing
from facts.services.encoding import encoding_drop, encoding_mark_failed, encoding_start, encodings_mark_stale
from facts.services.erase import entity_erase
from facts.services.events import event_finish, event_open, event_start
from facts.services.extraction import (
    extraction_fail,
    extraction_is_wanted,
    extraction_request,
    extraction_retry,
    extraction_start,
    extraction_wait,
)
from facts.services.feedback import feedback_set
from facts.services.ready import encodings_mark_ready
from facts.services.remember import facts_remember
from facts.services.taking import encodings_take, encodings_take_apart
from facts.services.update import fact_update, facts_update

__all__ = [
    "UNSET",
    "AddResult",
    "AddedFact",
    "ComingBlob",
    "DeleteResult",
    "Details",
    "ExtractionWishes",
    "FactUpdate",
    "FoundFact",
    "MadeBlob",
    "Message",
    "Pair",
    "encoding_drop",
    "encoding_mark_failed",
    "encoding_start",
    "encodings_announce",
    "encodings_mark_ready",
    "encodings_mark_stale",
    "encodings_take",
    "encodings_take_apart",
    "entity_erase",
    "event_finish",
    "event_open",
    "event_start",
    "extraction_fail",
    "extraction_is_wanted",
    "extraction_request",
    "extraction_retry",
    "extraction_start",
    "extraction_wait",
    "fact_delete",
    "fact_update",
    "facts_add",
    "facts_delete",
    "facts_delete_many",
    "facts_embed_missing",
    "facts_remember",
    "facts_update",
    "feedback_set",
]
