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
from facts.services.claims import facts_claim_outdated
from facts.services.conversation import conversation_add
from facts.services.delete import fact_delete, facts_delete, facts_delete_many
from facts.services.embed import (
    EmbeddingFailed,
    facts_embed_missing,
    vectors_forget,
    vectors_prepare,
    vectors_switch,
)
from facts.services.encoding import (
    encoding_drop,
    encoding_mark_failed,
    encoding_start,
    encodings_delete,
    encodings_mark_stale,
    encodings_remake,
    owner_kv_drop,
)
from facts.services.erase import entity_erase
from facts.services.events import event_finish, event_open, event_start
from facts.services.extraction import (
    extraction_cancel,
    extraction_fail,
    extraction_is_wanted,
    extraction_request,
    extraction_retry,
    extraction_start,
    extraction_wait,
)
from facts.services.feedback import feedback_set
from facts.services.quota import check_room
from facts.services.ready import encodings_mark_ready
from facts.services.refining import encodings_note_checked, owner_note_checked, refinement_give_up
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
    "EmbeddingFailed",
    "ExtractionWishes",
    "FactUpdate",
    "FoundFact",
    "MadeBlob",
    "Message",
    "Pair",
    "check_room",
    "conversation_add",
    "encoding_drop",
    "encoding_mark_failed",
    "encoding_start",
    "encodings_announce",
    "encodings_delete",
    "encodings_mark_ready",
    "encodings_mark_stale",
    "encodings_note_checked",
    "encodings_remake",
    "encodings_take",
    "encodings_take_apart",
    "entity_erase",
    "event_finish",
    "event_open",
    "event_start",
    "extraction_cancel",
    "extraction_fail",
    "extraction_is_wanted",
    "extraction_request",
    "extraction_retry",
    "extraction_start",
    "extraction_wait",
    "fact_delete",
    "fact_update",
    "facts_add",
    "facts_claim_outdated",
    "facts_delete",
    "facts_delete_many",
    "facts_embed_missing",
    "facts_remember",
    "facts_update",
    "feedback_set",
    "owner_kv_drop",
    "owner_note_checked",
    "refinement_give_up",
    "vectors_forget",
    "vectors_prepare",
    "vectors_switch",
]
