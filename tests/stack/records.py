"""Request records as the database has them."""

import httpx
from tenants.scope import tenant_scope
from usage.models import RequestRecord

from tests.stack.app import App
from tests.workers.running.processes import until


def records(app: App, request_id: str) -> list[RequestRecord]:
    with tenant_scope(app.tenant):
        return list(RequestRecord.objects.filter(request_id=request_id))


def record_of(app: App, answer: httpx.Response | str) -> RequestRecord:
    """The only one of the answer or request id, once it is there."""
    request_id = answer if isinstance(answer, str) else answer.headers["x-request-id"]
    until(lambda: bool(records(app, request_id)), f"{request_id} is recorded", 20)
    (record,) = records(app, request_id)
    return record
