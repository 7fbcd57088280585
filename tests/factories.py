"""Three people and two tenants: the owner and the member share one, the stranger has the other."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.contrib.auth.models import User
from facts.models import Encoding, Fact
from facts.scopes import Scopes
from facts.services import MadeBlob, Message, encoding_start, encodings_mark_ready, facts_add
from tenants.models import Tenant
from tenants.services import membership_set, tenant_create

ALICE = Scopes(user_id="alice")
FINGERPRINT = "model-a"
STRATEGY = "neighbours(16)"


@dataclass(frozen=True)
class People:
    tenant: Tenant
    other_tenant: Tenant
    owner: User
    member: User
    stranger: User


def people_create() -> People:
    tenant, other_tenant = tenant_create(name="Home"), tenant_create(name="Elsewhere")
    owner, member, stranger = (User.objects.create_user(name) for name in ("owner", "member", "stranger"))
    membership_set(tenant=tenant, user=owner, role="owner")
    membership_set(tenant=tenant, user=member, role="viewer")
    membership_set(tenant=other_tenant, user=stranger, role="owner")
    return People(tenant, other_tenant, owner, member, stranger)


def add_facts(tenant: Tenant, *texts: str, scopes: Scopes = ALICE) -> list[Fact]:
    result = facts_add(tenant=tenant, scopes=scopes, messages=[Message("user", text) for text in texts])
    return [added.fact for added in result.facts]


def blob_key_of(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()


def encode_fact(
    fact: Fact, *, context: Sequence[Fact] = (), fingerprint: str = FINGERPRINT, strategy: str = STRATEGY
) -> Encoding:
    """A ready encoding of the fact as it is now, computed behind `context`."""
    encoding = encoding_start(fact_or_owner=fact, fingerprint=fingerprint, strategy=strategy)
    assert mark_ready(encoding, fact, context=context), "the encoding was lost"
    encoding.refresh_from_db()
    return encoding


def mark_ready(encoding: Encoding, fact: Fact, *, context: Sequence[Fact] = ()) -> bool:
    hashes: dict[UUID, str] = {earlier.pk: earlier.hash for earlier in context}
    key = blob_key_of(f"{fact.pk} {fact.text} {sorted(hashes.values())}")
    return serve(MadeBlob(encoding, key, "d" * 32, tokens=9, bytes=4096, fact_hash=fact.hash, context=hashes))


def serve(blob: MadeBlob) -> bool:
    """Whether it is served from here on."""
    encoding = blob.encoding
    return bool(encodings_mark_ready(tenant=encoding.tenant, owner_id=encoding.owner_id, blobs=[blob]))
