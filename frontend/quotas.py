"""A tenant's quotas as bars: what is used of what it may have."""

from dataclasses import dataclass

from django.utils import timezone
from tenants.models import Tenant
from usage.quotas import quota_states

LABELS = {
    "facts": "Facts",
    "chats_per_day": "Chats today",
    "chats_per_month": "Chats this month",
    "kv_disk_bytes": "KV on disk",
    "kv_host_bytes": "KV in host memory",
    "kv_gpu_bytes": "KV in GPU memory",
}
NEARLY = 0.8


@dataclass(frozen=True, slots=True)
class QuotaRow:
    """`limit` and `used` are None where there is no limit."""

    name: str
    label: str
    used: int | None
    limit: int | None

    @property
    def is_bytes(self) -> bool:
        return self.name.endswith("_bytes")

    @property
    def level(self) -> str:
        """A colour of the style sheet."""
        share = (self.used or 0) / self.limit if self.limit else 1.0
        return "full" if share >= 1 else "prompt" if share >= NEARLY else "inject"


def quota_rows(tenant: Tenant) -> list[QuotaRow]:
    states = quota_states(tenant=tenant, now=timezone.now())
    return [QuotaRow(state.name, LABELS[state.name], state.used, state.limit) for state in states]
