"""Writes on usage."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from uuid import UUID

from django.utils import timezone
from tenants.scope import every_tenant

from usage.models import RequestRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestRecordData:
    """One chat request; times in milliseconds, None where it never got there."""

    tenant_id: UUID
    mode: str
    status: int
    owner_name: str = ""
    ttft_ms: float | None = None
    total_ms: float | None = None
    retrieval_ms: float | None = None
    prompt_tokens: int = 0
    tokens_injected_planned: int = 0
    cached_tokens: int | None = None
    output_tokens: int = 0
    facts: int = 0
    model: str = ""
    request_id: str = ""
    created_at: datetime = field(default_factory=timezone.now)


def request_records_write(records: Sequence[RequestRecordData]) -> int:
    """Many records of many tenants in one statement; the number written."""
    with every_tenant():
        return len(RequestRecord.objects.bulk_create([RequestRecord(**asdict(record)) for record in records]))
