"""Said before an encode request is sent, so that its blobs can be found again whatever happens to the request."""

from collections.abc import Sequence

from django.utils import timezone
from tenants.models import Tenant
from tenants.scope import tenant_scope

from facts.inputs import ComingBlob
from facts.models import Encoding, EncodingState


def encodings_announce(*, tenant: Tenant, coming: Sequence[ComingBlob]) -> int:
    """Note the coming blobs' keys and contexts; of how many encodings, for those no longer pending stay as they are.

    From here on a change of the context marks them stale, and dropping them drops the blobs, although no worker may
    live to see them made.
    """
    now = timezone.now()
    noted = [
        Encoding(
            pk=blob.encoding.pk,
            key=blob.key,
            context_fact_ids=list(blob.context),
            context_turn_ids=list(blob.turns),
            updated_at=now,
        )
        for blob in coming
    ]
    with tenant_scope(tenant):
        pending = Encoding.objects.filter(state=EncodingState.PENDING)
        return pending.bulk_update(noted, ["key", "context_fact_ids", "context_turn_ids", "updated_at"])
