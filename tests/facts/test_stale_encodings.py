"""No KV outlives what it was computed from."""

from typing import Any

import pytest
from facts.models import Encoding, Fact
from facts.scopes import Scopes
from facts.selectors import encodings_to_drop, fact_delta
from facts.services import encoding_drop, encoding_start, encodings_mark_stale, fact_delete, fact_update, facts_delete
from tenants.models import Tenant

from tests.factories import ALICE, FINGERPRINT, STRATEGY, add_facts, encode_fact

NAMES: dict[str, Any] = {"fingerprint": FINGERPRINT, "strategies": [STRATEGY], "embedding_model": "demo"}


def states() -> dict[str, str]:
    return {encoding.fact.text: encoding.state for encoding in Encoding.objects.select_related("fact") if encoding.fact}


@pytest.mark.parametrize("change", ["update", "delete"])
def test_a_change_marks_the_facts_own_encoding_and_those_behind_it(tenant: Tenant, change: str) -> None:
    first, second, third = add_facts(tenant, "first", "second", "third")
    encode_fact(first)
    encode_fact(second, context=[first])
    encode_fact(third, context=[second])
    if change == "update":
        fact_update(fact=first, text="changed")
    else:
        fact_delete(fact=first)
    first.refresh_from_db()
    assert states() == {first.text: "stale", "second": "stale", "third": "ready"}


def test_readers_learn_by_the_delta_that_a_dependent_lost_its_kv(tenant: Tenant) -> None:
    first, second = add_facts(tenant, "first", "second")
    encode_fact(first)
    encoding = encode_fact(second, context=[first])
    seen = Fact.objects.get(pk=second.pk).seq
    fact_delete(fact=first)
    rows = fact_delta(owner_id=first.owner_id, after_seq=seen, **NAMES)
    assert [(row.text, row.active, row.key) for row in rows] == [("first", False, None), ("second", True, None)]
    assert encoding.key


def test_delete_many_marks_what_was_computed_from_any_of_them(tenant: Tenant) -> None:
    monday = add_facts(tenant, "monday", scopes=Scopes(user_id="alice", run_id="1"))[0]
    other = add_facts(tenant, "other")[0]
    encode_fact(monday)
    encode_fact(other, context=[monday])
    facts_delete(tenant=tenant, scopes=Scopes(run_id="1"))
    assert states() == {"monday": "stale", "other": "stale"}


def test_a_stale_encoding_stays_until_its_blob_is_dropped_while_a_new_one_is_made(tenant: Tenant) -> None:
    first, second = add_facts(tenant, "first", "second")
    stale = encode_fact(second, context=[first])
    fact_delete(fact=first)
    again = encode_fact(second)
    assert (again.state, again.key == stale.key) == ("ready", False)
    (left,) = encodings_to_drop(tenant=tenant, owner_id=first.owner_id)
    assert (left.encoding, left.key, left.shared) == (stale, stale.key, False)
    assert encoding_drop(encoding=left.encoding)
    assert not encoding_drop(encoding=again)
    assert Encoding.objects.get() == again


def test_a_blob_made_again_under_the_same_key_is_not_to_be_dropped(tenant: Tenant) -> None:
    fact = add_facts(tenant, "first")[0]
    broken = encode_fact(fact)
    assert encodings_mark_stale(tenant=tenant, keys=[broken.key]) == 1
    encode_fact(fact)
    assert [left.shared for left in encodings_to_drop(tenant=tenant)] == [True]


def test_a_failed_or_pending_encoding_is_marked_as_well(tenant: Tenant) -> None:
    fact = add_facts(tenant, "first")[0]
    encoding_start(fact_or_owner=fact, fingerprint=FINGERPRINT, strategy=STRATEGY)
    fact_update(fact=fact, text="changed")
    assert Encoding.objects.get().state == "stale"


def test_a_broken_blob_leaves_its_fact_in_the_next_delta_as_text(tenant: Tenant) -> None:
    fact = add_facts(tenant, "first", scopes=ALICE)[0]
    encoding = encode_fact(fact)
    seen = Fact.objects.get().seq
    assert encodings_mark_stale(tenant=tenant, ids=[encoding.pk]) == 1
    assert encodings_mark_stale(tenant=tenant, ids=[encoding.pk]) == 0
    (row,) = fact_delta(owner_id=fact.owner_id, after_seq=seen, **NAMES)
    assert (row.active, row.key) == (True, None)
