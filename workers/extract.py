"""Tasks that find facts in conversations."""

from functools import partial
from typing import Any
from uuid import UUID

from celery import Task
from config.celery import app
from facts.errors import QuotaExceededError
from facts.exclusive import alone_with
from facts.models import Extraction
from facts.services import extraction_fail, extraction_start, extraction_wait
from tenants.scope import tenant_scope
from tenants.selectors import tenant_by_id

from workers.attempts import attempt
from workers.parts import extractor
from workers.port import EngineBroke, EngineDown, EngineRefused


@app.task(bind=True, name="workers.extract.extract_facts")
def extract_facts(self: "Task[Any, Any]", tenant_id: str, event_id: str, failures: int = 0) -> None:
    tenant = tenant_by_id(tenant_id)
    if tenant is None:
        return
    with tenant_scope(tenant), alone_with(UUID(event_id)) as is_alone:
        extraction = extraction_start(tenant=tenant, event_id=UUID(event_id)) if is_alone else None
        if extraction is None:
            return

        def give_up(reason: str) -> None:
            extraction_fail(extraction=extraction, reason=reason)

        work = partial(_extract, extraction, failures)
        attempt(self, work, give_up, args=(tenant_id, event_id), failures=failures)


def _extract(extraction: Extraction, failures: int) -> None:
    """Whatever comes of it, the event says it."""
    try:
        extractor(again=failures > 0).extract(extraction)
    except (EngineRefused, QuotaExceededError) as error:
        extraction_fail(extraction=extraction, reason=str(error))
    except (EngineDown, EngineBroke) as error:
        extraction_wait(extraction=extraction, reason=str(error))
        raise
    except Exception as error:
        extraction_fail(extraction=extraction, reason=f"an error of this server: {type(error).__name__}")
        raise
