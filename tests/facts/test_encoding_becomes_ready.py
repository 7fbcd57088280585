import pytest
from facts.errors import FactGoneError
from facts.models import Encoding, Fact
from facts.selectors import header_encoding
from facts.services import (
    MadeBlob,
    encoding_mark_failed,
    encoding_start,
    encodings_mark_ready,
    fact_delete,
    fact_update,
)
from tenants.models import Tenant

from tests.factories import FINGERPRINT, STRATEGY, add_facts, blob_key_of, encode_fact, mark_ready, serve


def start(fact: Fact) -> Encoding:
    return encoding_start(fact_or_owner=fact, fingerprint=FINGERPRINT, strategy=STRATEGY)


def test_each_start_is_one_attempt_of_the_same_encoding(tenant: Tenant) -> None:
    fact = add_facts(tenant, "first")[0]
    assert start(fact).pk == start(fact).pk
    encoding = Encoding.objects.get()
    assert (encoding.state, encoding.attempts, encoding.fact_hash) == ("pending", 2, fact.hash)


def test_a_ready_encoding_is_not_started_again(tenant: Tenant) -> None:
    fact = add_facts(tenant, "first")[0]
    ready = encode_fact(fact)
    again = start(fact)
    assert (again.pk, again.state, again.attempts) == (ready.pk, "ready", 1)


def test_a_deleted_fact_is_not_started(tenant: Tenant) -> None:
    fact = add_facts(tenant, "first")[0]
    fact_delete(fact=fact)
    with pytest.raises(FactGoneError):
        start(fact)


@pytest.mark.parametrize("change", ["update", "delete"])
def test_a_fact_changed_meanwhile_loses_its_encoding(tenant: Tenant, change: str) -> None:
    fact = add_facts(tenant, "first")[0]
    encoding = start(fact)
    if change == "update":
        fact_update(fact=fact, text="changed")
    else:
        fact_delete(fact=fact)
    assert not mark_ready(encoding, fact)
    assert not Encoding.objects.filter(state="ready").exists()


@pytest.mark.parametrize("change", ["update", "delete"])
def test_a_context_fact_changed_meanwhile_loses_the_encoding(tenant: Tenant, change: str) -> None:
    first, second = add_facts(tenant, "first", "second")
    encoding = start(second)
    if change == "update":
        fact_update(fact=first, text="changed")
    else:
        fact_delete(fact=first)
    assert not mark_ready(encoding, second, context=[first])
    encoding.refresh_from_db()
    assert (encoding.state, encoding.key) == ("pending", "")


def test_of_several_blobs_those_that_nothing_changed_are_served(tenant: Tenant) -> None:
    first, second, third, fourth = add_facts(tenant, "first", "second", "third", "fourth")
    runs = [(first, []), (second, [first]), (third, [first, second]), (fourth, [first, second, third])]
    made = [
        MadeBlob(
            start(fact),
            blob_key_of(fact.text),
            "d" * 32,
            tokens=9,
            bytes=4096,
            fact_hash=fact.hash,
            context={earlier.pk: earlier.hash for earlier in context},
        )
        for fact, context in runs
    ]
    fact_update(fact=third, text="changed")
    served = encodings_mark_ready(tenant=tenant, owner_id=first.owner_id, blobs=made)
    assert served == {blob.encoding.pk for blob in made[:2]}
    assert list(Encoding.objects.order_by("pk").values_list("state", flat=True)) == [
        "ready",
        "ready",
        "stale",
        "pending",
    ]
    first.owner.refresh_from_db()
    for fact in (first, second):
        fact.refresh_from_db()
        assert fact.seq == first.owner.change_seq


def test_the_second_worker_with_the_same_blob_wins_too_and_with_another_loses(tenant: Tenant) -> None:
    first, second = add_facts(tenant, "first", "second")
    mine, yours = start(second), start(second)
    assert mark_ready(mine, second)
    assert mark_ready(yours, second)
    assert not mark_ready(yours, second, context=[first])
    assert Encoding.objects.get().context_fact_ids == []


def test_a_failure_keeps_its_reason_and_can_be_tried_again(tenant: Tenant) -> None:
    fact = add_facts(tenant, "first")[0]
    encoding = start(fact)
    assert encoding_mark_failed(encoding=encoding, error="engine said\x00 no")
    encoding.refresh_from_db()
    assert (encoding.state, encoding.error) == ("failed", "engine said no")
    assert start(fact).state == "pending"


def test_a_failure_reported_late_does_not_touch_a_ready_encoding(tenant: Tenant) -> None:
    fact = add_facts(tenant, "first")[0]
    assert not encoding_mark_failed(encoding=encode_fact(fact), error="late")
    assert Encoding.objects.get().state == "ready"


def test_an_owner_has_one_encoding_header(tenant: Tenant) -> None:
    owner = add_facts(tenant, "first")[0].owner
    encoding = encoding_start(fact_or_owner=owner, fingerprint=FINGERPRINT, strategy=STRATEGY)
    assert encoding_start(fact_or_owner=owner, fingerprint=FINGERPRINT, strategy=STRATEGY).pk == encoding.pk
    assert header_encoding(owner_id=owner.pk, fingerprint=FINGERPRINT, strategies=[STRATEGY]) is None
    assert serve(MadeBlob(encoding, blob_key_of("h"), "d" * 32, tokens=20, bytes=10))
    found = header_encoding(owner_id=owner.pk, fingerprint=FINGERPRINT, strategies=[STRATEGY])
    assert found == (blob_key_of("h"), "d" * 32, 20)
    owner.refresh_from_db()
    assert owner.change_seq == 2
