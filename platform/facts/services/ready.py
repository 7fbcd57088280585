"""The one step that lets a blob be served."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from django.utils import timezone
from tenants.scope import tenant_scope

from facts.models import Encoding, EncodingState, Fact, FactStatus
from facts.services.change import encode_on_commit, owner_locked, owner_touch


def encoding_mark_ready(
    *,
    encoding: Encoding,
    key: str,
    digest: str,
    tokens: int,
    bytes: int,
    context_fact_ids: Sequence[UUID] = (),
    context_hashes: Mapping[UUID, str] | None = None,
    context_turn_ids: Sequence[UUID] = (),
    fact_hash: str = "",
) -> bool:
    """True when the blob is served from here on. False: the caller drops it.

    It is lost when the fact was changed or deleted since, when a fact of its context was (then it is sent to be
    encoded again), when it was marked stale, or when another worker made another blob first.
    """
    hashes = context_hashes or {}
    with tenant_scope(encoding.tenant), owner_locked(encoding.owner_id) as owner:
        current = Encoding.objects.filter(pk=encoding.pk).first()
        if current is None or current.state == EncodingState.STALE:
            return False
        if current.state == EncodingState.READY:
            return current.key == key
        if current.fact_id is not None and not _all_active({current.fact_id: fact_hash}):
            # A change of the fact has sent its new text to be encoded already.
            Encoding.objects.filter(pk=current.pk).update(state=EncodingState.STALE, updated_at=timezone.now())
            return False
        if not set(context_fact_ids) <= hashes.keys() or not _all_active({i: hashes[i] for i in context_fact_ids}):
            Encoding.objects.filter(pk=current.pk).update(attempts=0, updated_at=timezone.now())  # nobody's failure
            encode_on_commit(owner, [current.fact_id] if current.fact_id else [])
            return False
        current.state = EncodingState.READY
        current.key, current.digest, current.tokens, current.bytes = key, digest, tokens, bytes
        current.context_fact_ids, current.context_turn_ids = list(context_fact_ids), list(context_turn_ids)
        current.fact_hash, current.error, current.updated_at = fact_hash, "", timezone.now()
        current.save()
        seq = owner_touch(owner)
        if current.fact_id is not None:
            Fact.objects.filter(pk=current.fact_id).update(seq=seq)
    return True


def _all_active(hashes: Mapping[UUID, str]) -> bool:
    """Whether each of these facts is active and still has this hash."""
    active = Fact.objects.filter(pk__in=hashes, status=FactStatus.ACTIVE).values_list("pk", "hash")
    return dict(active) == dict(hashes)
