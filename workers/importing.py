"""Storing memories that were checked when they were sent. Stored again they change nothing: a part can be repeated."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from facts.errors import InvalidInputError
from facts.inputs import Details, Message
from facts.scopes import Scopes
from facts.services import facts_add
from jobs.models import Job
from jobs.selectors import part_rows, parts_left
from jobs.services import part_finish, part_held

Row = dict[str, Any]


def run_import(job: Job) -> None:
    for left in parts_left(job=job):
        with part_held(job=job, part=left) as part:
            groups = defaultdict[Scopes, list[Row]](list)
            for row in part_rows(part):
                groups[Scopes(**row["scopes"])].append(row)
            report = [refusal for scopes, rows in groups.items() for refusal in _store(job, scopes, rows)]
            part_finish(job=job, part=part, report=report)


def _store(job: Job, scopes: Scopes, rows: Sequence[Row]) -> list[Row]:
    """All in one call; when that is refused, row by row, and who is refused is reported."""
    try:
        _add(job, scopes, rows)
        return []
    except InvalidInputError as error:
        if len(rows) == 1:
            return [{"line": rows[0]["line"], "reason": f"{error.field}: {error.message}"}]
    return [refusal for row in rows for refusal in _store(job, scopes, [row])]


def _add(job: Job, scopes: Scopes, rows: Sequence[Row]) -> None:
    facts_add(tenant=job.tenant, scopes=scopes, messages=[_message(row) for row in rows], actor=job.actor)


def _message(row: Row) -> Message:
    details = Details(row["metadata"], tuple(row["categories"]), _moment(row["expires_at"]), row["immutable"])
    return Message("user", row["text"], said_at=_moment(row["occurred_at"]), details=details)


def _moment(value: str | None) -> datetime | None:
    return datetime.fromisoformat(value) if value else None
