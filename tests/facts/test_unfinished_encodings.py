from datetime import timedelta
from typing import Any

from django.utils import timezone
from facts.models import Encoding, Fact
from facts.selectors import encodings_outdated, encodings_unfinished, headers_unfinished
from facts.services import MadeBlob, encoding_mark_failed, encoding_start, encodings_mark_stale, fact_delete
from tenants.models import Tenant

from tests.factories import FINGERPRINT, STRATEGY, add_facts, blob_key_of, encode_fact, serve

MADE: dict[str, Any] = {"fingerprint": FINGERPRINT, "strategy": STRATEGY}
CURRENT: dict[str, Any] = {"fingerprint": FINGERPRINT, "strategies": [STRATEGY]}
AT_ONCE: dict[str, Any] = {**CURRENT, "older_than": timedelta(0)}


def test_facts_without_a_settled_encoding_are_unfinished(tenant: Tenant) -> None:
    never, pending, stale, ready, failed, deleted = add_facts(tenant, *"abcdef")
    encoding_start(fact_or_owner=pending, **MADE)
    encodings_mark_stale(tenant=tenant, ids=[encode_fact(stale).pk])
    encode_fact(ready)
    encoding_mark_failed(encoding=encoding_start(fact_or_owner=failed, **MADE), error="poison")
    fact_delete(fact=deleted)
    assert encodings_unfinished(tenant=tenant, **AT_ONCE) == [never.pk, pending.pk, stale.pk]
    assert encodings_unfinished(tenant=tenant, **AT_ONCE, limit=1) == [never.pk]


def test_what_a_worker_is_at_is_left_to_it(tenant: Tenant) -> None:
    fact = add_facts(tenant, "a")[0]
    assert encodings_unfinished(tenant=tenant, **CURRENT) == []
    Fact.objects.update(updated_at=timezone.now() - timedelta(hours=1))
    assert encodings_unfinished(tenant=tenant, **CURRENT) == [fact.pk]
    encoding_start(fact_or_owner=fact, **MADE)
    assert encodings_unfinished(tenant=tenant, **CURRENT) == []
    Encoding.objects.update(updated_at=timezone.now() - timedelta(hours=1))
    assert encodings_unfinished(tenant=tenant, **CURRENT) == [fact.pk]


def test_a_new_model_makes_every_fact_unfinished_and_the_old_encodings_outdated(tenant: Tenant) -> None:
    fact = add_facts(tenant, "a")[0]
    encoding = encode_fact(fact)
    new: dict[str, Any] = {"fingerprint": "model-b", "strategies": [STRATEGY]}
    assert encodings_unfinished(tenant=tenant, **new, older_than=timedelta(0)) == [fact.pk]
    assert encodings_outdated(tenant=tenant, **new) == [encoding.pk]
    assert encodings_outdated(tenant=tenant, **CURRENT) == []


def test_owners_with_facts_need_a_header(tenant: Tenant) -> None:
    owner = add_facts(tenant, "a")[0].owner
    assert headers_unfinished(tenant=tenant, **AT_ONCE) == [owner.pk]
    header = encoding_start(fact_or_owner=owner, **MADE)
    assert serve(MadeBlob(header, blob_key_of("h"), "d" * 32, tokens=20, bytes=10))
    assert headers_unfinished(tenant=tenant, **AT_ONCE) == []
