"""Said before an encode request is sent, so that its blob can be found again whatever happens to the request."""

from collections.abc import Sequence
from uuid import UUID

from django.utils import timezone
from tenants.scope import tenant_scope

from facts.models import Encoding, EncodingState


def encoding_announce(*, encoding: Encoding, key: str, context_fact_ids: Sequence[UUID] = ()) -> bool:
    """Note the coming blob's key and context. False when the encoding is no longer pending.

    From here on a change of the context marks it stale, and dropping it drops the blob, although no worker may live
    to see it made.
    """
    with tenant_scope(encoding.tenant):
        pending = Encoding.objects.filter(pk=encoding.pk, state=EncodingState.PENDING)
        noted = pending.update(key=key, context_fact_ids=list(context_fact_ids), updated_at=timezone.now())
    return noted == 1
