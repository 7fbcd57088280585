"""Summaries: what a model makes of the memories that meet a filter, and how long that counts."""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone
from tenants.models import Tenant
from tenants.scope import tenant_scope

from facts.models import Fact, ProfileStatus, Summary

PATIENCE = timedelta(minutes=10)  # before a summary that failed, or that no job was heard of, is asked for again


@dataclass(frozen=True, slots=True)
class SummarySource:
    """What a summary is made of, the oldest first."""

    texts: tuple[str, ...]
    digest: str


def summary_source(facts: QuerySet[Fact]) -> SummarySource:
    rows = list(facts.order_by("created_at", "pk").values_list("pk", "hash", "text"))
    lines = "\n".join(f"{fact_id} {text_hash}" for fact_id, text_hash, _ in rows)
    return SummarySource(tuple(text for *_, text in rows), hashlib.sha256(lines.encode()).hexdigest())


def summary_get(*, tenant: Tenant, asked: Any) -> Summary:
    """Unsaved where nothing was asked for in these words before."""
    key = hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()
    with tenant_scope(tenant):
        found = Summary.objects.filter(asked=key).first()
    return found or Summary(tenant=tenant, asked=key, status=ProfileStatus.INSUFFICIENT, updated_at=timezone.now())


def summary_is_due(summary: Summary, source: SummarySource, *, now: datetime) -> bool:
    """Whether a job is to make it: its memories are others by now, and no job is at it, or failed a moment ago."""
    if not source.texts or (summary.status == ProfileStatus.SUCCEEDED and summary.made_of == source.digest):
        return False
    waits = summary.status in (ProfileStatus.PENDING, ProfileStatus.FAILED)
    return not waits or summary.updated_at < now - PATIENCE


def summary_ask(*, summary: Summary) -> Summary | None:
    """The row, pending from here on; None when another call was faster."""
    names = {"asked": summary.asked, "status": summary.status, "updated_at": summary.updated_at}
    with tenant_scope(summary.tenant):
        Summary.objects.bulk_create([Summary(tenant=summary.tenant, **names)], ignore_conflicts=True)
        unchanged = Summary.objects.filter(**names)
        if not unchanged.update(status=ProfileStatus.PENDING, error="", updated_at=timezone.now()):
            return None
        return Summary.objects.get(asked=summary.asked)


def summary_tell(*, tenant: Tenant, summary_id: int, source: SummarySource, text: str) -> None:
    """Of a row that a deletion has taken away meanwhile nothing is stored."""
    status = ProfileStatus.SUCCEEDED if text else ProfileStatus.INSUFFICIENT
    with tenant_scope(tenant):
        asked = Summary.objects.filter(pk=summary_id)
        asked.update(text=text, made_of=source.digest, status=status, error="", updated_at=timezone.now())


def summary_fail(*, tenant: Tenant, summary_id: int, reason: str) -> None:
    """The text of the last one that was made stays."""
    with tenant_scope(tenant):
        asked = Summary.objects.filter(pk=summary_id)
        asked.update(status=ProfileStatus.FAILED, error=reason, updated_at=timezone.now())


def newest_lines(texts: Iterable[str], *, max_characters: int) -> str:
    """A line a memory, in the order given, as many whole lines as fit."""
    lines: list[str] = []
    room = max_characters
    for text in texts:
        room -= len(text) + len("- \n")
        if room < 0 and lines:
            break
        lines.append(f"- {text}"[:max_characters])
    return "\n".join(lines)
