"""The one step that lets blobs be served."""

from collections.abc import Collection, Mapping, Sequence
from uuid import UUID

from django.db.models import Q
from django.utils import timezone
from tenants.models import Tenant
from tenants.scope import tenant_scope

from facts.inputs import MadeBlob
from facts.models import KEPT, Encoding, EncodingState, Fact, FactStatus, Owner
from facts.selectors.turns import turns_readable
from facts.services.change import encode_on_commit, owner_locked, owner_touch

MADE = (
    "state", "key", "digest", "tokens", "bytes", "context_fact_ids", "context_turn_ids", "fact_hash", "error",
    "taken_by", "refreshes", "updated_at",
)  # fmt: skip


def encodings_mark_ready(*, tenant: Tenant, owner_id: int, blobs: Sequence[MadeBlob]) -> set[int]:
    """Ids of the encodings whose blobs are served from here on; the caller drops the others.

    A blob is lost when its fact was changed or deleted since, when a fact or turn of its context was (then it is sent
    to be encoded again), when it was marked stale, or when another worker made another blob first.
    """
    with tenant_scope(tenant), owner_locked(owner_id) as owner:
        current = Encoding.objects.filter(pk__in=[blob.encoding.pk for blob in blobs], owner=owner)
        waiting = {encoding.pk: encoding for encoding in current.exclude(state=EncodingState.STALE)}
        own = {blob.encoding.fact_id for blob in blobs if blob.encoding.fact_id}
        hashes = _active_hashes(own.union(*(blob.context for blob in blobs)))
        readable = turns_readable(turn_ids=set[UUID]().union(*(blob.turns for blob in blobs)))
        served, made = set[int](), list[Encoding]()
        changed, without_context = list[int](), list[Encoding]()
        for blob in blobs:
            encoding = waiting.get(blob.encoding.pk)
            if encoding is None:
                continue
            if encoding.state == EncodingState.READY:
                served |= {encoding.pk} if encoding.key == blob.key else set()
            elif encoding.fact_id is not None and hashes.get(encoding.fact_id) != blob.fact_hash:
                changed.append(encoding.pk)  # the change has sent its new text to be encoded already
            elif not _still_holds(blob, hashes, readable):
                without_context.append(encoding)
            else:
                made.append(_made(encoding, blob))
        Encoding.objects.filter(pk__in=changed).update(state=EncodingState.STALE, updated_at=timezone.now())
        _send_again(owner, without_context)
        _serve(owner, made)
    return served | {encoding.pk for encoding in made}


def _still_holds(blob: MadeBlob, hashes: Mapping[UUID, str], readable: set[UUID]) -> bool:
    """Whether all that the blob was computed from is as it was."""
    facts = all(hashes.get(fact_id) == text_hash for fact_id, text_hash in blob.context.items())
    return facts and readable >= set(blob.turns)


def _made(encoding: Encoding, blob: MadeBlob) -> Encoding:
    encoding.state = EncodingState.READY
    encoding.key, encoding.digest, encoding.tokens, encoding.bytes = blob.key, blob.digest, blob.tokens, blob.bytes
    encoding.context_fact_ids, encoding.context_turn_ids = list(blob.context), list(blob.turns)
    encoding.fact_hash = blob.fact_hash
    encoding.error, encoding.taken_by, encoding.updated_at = "", None, timezone.now()
    return encoding


def _serve(owner: Owner, made: Collection[Encoding]) -> None:
    """What was served of the same segments and model until now goes in the same moment, its blob a little later."""
    if made:
        own = {encoding.pk for encoding in made}
        segments = Q(fact_id__in=[encoding.fact_id for encoding in made if encoding.fact_id])
        if any(encoding.fact_id is None for encoding in made):
            segments |= Q(fact=None)
        models = {encoding.fingerprint for encoding in made}
        former = Encoding.objects.filter(segments, owner=owner, fingerprint__in=models, state=EncodingState.READY)
        former = former.exclude(pk__in=own)
        replaced = {encoding.fact_id: encoding for encoding in former}
        for encoding in made:
            if old := replaced.get(encoding.fact_id):
                encoding.refreshes = old.refreshes + (encoding.strategy == old.strategy)
        now = timezone.now()
        former.update(state=EncodingState.STALE, keep_until=now + KEPT, error="", updated_at=now)
        Encoding.objects.bulk_update(made, MADE)
        facts = Fact.objects.filter(pk__in=[encoding.fact_id for encoding in made])
        facts.update(seq=owner_touch(owner))


def _send_again(owner: Owner, encodings: Collection[Encoding]) -> None:
    """Nobody's failure, and no longer in anybody's pass."""
    again = Encoding.objects.filter(pk__in=[encoding.pk for encoding in encodings])
    again.update(attempts=0, taken_by=None, updated_at=timezone.now())
    encode_on_commit(owner, [encoding.fact_id for encoding in encodings if encoding.fact_id])


def _active_hashes(fact_ids: Collection[UUID]) -> dict[UUID, str]:
    return dict(Fact.objects.filter(pk__in=fact_ids, status=FactStatus.ACTIVE).values_list("pk", "hash"))
