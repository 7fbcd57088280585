"""Reads on memory. Each opens the tenant's scope itself when given a tenant, else runs in the caller's."""

from facts.selectors.blobs import (
    ReadyBlob,
    ServedBlob,
    blobs_of_owner,
    facts_unencoded,
    keys_of_owners,
    known_keys,
    owners_with_stale,
    ready_blobs,
    served_keys,
)
from facts.selectors.encodings import (
    encodings_outdated,
    encodings_to_drop,
    encodings_unfinished,
    fact_encoding,
    header_encoding,
    headers_unfinished,
)
from facts.selectors.entities import Entity, entities_list, entity_get, entity_is_known
from facts.selectors.extractions import extraction_turns, extractions_unfinished, pairs_unsure
from facts.selectors.facts import fact_get, fact_history, facts_by_id, facts_matching
from facts.selectors.owners import OwnerState, event_get, events_list, owner_get, owner_state
from facts.selectors.rows import FactRow, earlier_facts, fact_delta, facts_from, other_facts
from facts.selectors.turns import turns_before, turns_readable
from facts.selectors.words import facts_by_words

__all__ = [
    "Entity",
    "FactRow",
    "OwnerState",
    "ReadyBlob",
    "ServedBlob",
    "blobs_of_owner",
    "earlier_facts",
    "encodings_outdated",
    "encodings_to_drop",
    "encodings_unfinished",
    "entities_list",
    "entity_get",
    "entity_is_known",
    "event_get",
    "events_list",
    "extraction_turns",
    "extractions_unfinished",
    "fact_delta",
    "fact_encoding",
    "fact_get",
    "fact_history",
    "facts_by_id",
    "facts_by_words",
    "facts_from",
    "facts_matching",
    "facts_unencoded",
    "header_encoding",
    "headers_unfinished",
    "keys_of_owners",
    "known_keys",
    "other_facts",
    "owner_get",
    "owner_state",
    "owners_with_stale",
    "pairs_unsure",
    "ready_blobs",
    "served_keys",
    "turns_before",
    "turns_readable",
]
