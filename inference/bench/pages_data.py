"""A tenant with as many facts and request records as an installation gets in time, for `bench pages`."""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from uuid import UUID

import numpy as np
from django.utils import timezone
from facts.models import Encoding, Fact, Owner
from facts.text import text_hash
from tenants.models import Tenant
from tenants.scope import tenant_scope
from usage.services import RequestRecordData, request_records_write

from inference.bench.facts import bench_facts

FACTS_A_USER = 500
BATCH = 2_000
DAYS = 90
FINGERPRINT = "bench"


@dataclass(frozen=True)
class Filled:
    """What there is to look at."""

    tenant: Tenant
    owner_id: int
    fact_id: UUID


def store_facts(tenant: Tenant, facts: int, *, dimensions: int, model: str) -> Iterator[int]:
    """The number stored, after each batch. Vectors are random, encodings ready, their blobs in no store."""
    texts, numbers = bench_facts(facts), np.random.default_rng(0)
    with tenant_scope(tenant):
        for at in range(0, facts, FACTS_A_USER):
            owner = Owner.objects.create(
                tenant=tenant, kind="user", name=f"user-{at // FACTS_A_USER}", change_seq=FACTS_A_USER
            )
            vectors = numbers.standard_normal((min(FACTS_A_USER, facts - at), dimensions), dtype=np.float32)
            vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
            rows = [
                _fact(tenant, owner, text, number, vector.tobytes(), model)
                for number, (text, vector) in enumerate(zip(islice(texts, len(vectors)), vectors, strict=True), 1)
            ]
            Fact.objects.bulk_create(rows, batch_size=BATCH)
            Encoding.objects.bulk_create([_encoding(tenant, owner, fact) for fact in rows], batch_size=BATCH)
            yield at + len(rows)


def store_records(tenant: Tenant, records: int, *, users: int) -> Iterator[int]:
    """The number stored, after each batch; of the last DAYS, evenly, in all modes."""
    now, numbers = timezone.now(), random.Random(0)
    for at in range(0, records, BATCH):
        count = min(BATCH, records - at)
        request_records_write(
            [_record(tenant, numbers, now - timedelta(days=DAYS) * (at + n) / records, users) for n in range(count)]
        )
        yield at + count


def filled(tenant: Tenant) -> Filled:
    with tenant_scope(tenant):
        fact = Fact.objects.earliest("created_at")
    return Filled(tenant, fact.owner_id, fact.pk)


def _fact(tenant: Tenant, owner: Owner, text: str, number: int, vector: bytes, model: str) -> Fact:
    return Fact(
        tenant=tenant,
        owner=owner,
        user_id=owner.name,
        text=text,
        hash=text_hash(text),
        seq=number,
        embedding=vector,
        embedding_model=model,
        created_at=timezone.now() - timedelta(minutes=number),
    )


def _encoding(tenant: Tenant, owner: Owner, fact: Fact) -> Encoding:
    return Encoding(
        tenant=tenant,
        owner=owner,
        fact=fact,
        fingerprint=FINGERPRINT,
        strategy=tenant.strategy,
        key=text_hash(str(fact.pk)),
        tokens=32,
        bytes=1 << 20,
        state="ready",
        fact_hash=fact.hash,
    )


def _record(tenant: Tenant, numbers: random.Random, created_at: datetime, users: int) -> RequestRecordData:
    mode = numbers.choice(("none", "prompt", "inject", "inject"))
    ttft = numbers.lognormvariate(4, 0.5) * (4 if mode == "prompt" else 1)
    return RequestRecordData(
        tenant_id=tenant.pk,
        mode=mode,
        status=numbers.choices((200, 400, 499, 500), (970, 10, 15, 5))[0],
        owner_name=f"user-{numbers.randrange(users)}",
        ttft_ms=ttft,
        total_ms=5 * ttft,
        retrieval_ms=4.0,
        prompt_tokens=1600,
        tokens_injected_planned=1500 if mode == "inject" else 0,
        cached_tokens=1500 if mode == "inject" else 0,
        output_tokens=50,
        facts=0 if mode == "none" else 50,
        model="bench",
        request_id=f"bench-{numbers.getrandbits(64):016x}",
        created_at=created_at,
    )
