from collections.abc import Iterator
from typing import Any

import pytest
import redis
from django.conf import settings as django_settings
from django.db import connection
from facts import enqueue
from facts.models import Encoding

from memory.store import BlobStore
from tests.workers.running.processes import Processes, until
from tests.workers.troubled_engine import free_port


@pytest.fixture(scope="package")
def processes(
    django_db_setup: None, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[Processes]:
    """A worker with beat and, once a test has started it, an engine: processes of their own on the test database."""
    folder = tmp_path_factory.mktemp("running")
    update = {"store": folder / "blobs", "engine_port": free_port(), "engine_url": "", "home": folder}
    env = django_settings.ENV.model_copy(update=update)
    with Processes(env, home=django_settings.ENV.home, database=str(connection.settings_dict["NAME"])) as processes:
        yield processes


@pytest.fixture(autouse=True)
def store(processes: Processes, settings: Any) -> BlobStore:
    """The one that those processes use."""
    update = {"store": processes.env.store, "engine_url": processes.env.engine_base_url}
    settings.ENV = settings.ENV.model_copy(update=update)
    return BlobStore(settings.ENV.store_path)


@pytest.fixture
def broker(monkeypatch: pytest.MonkeyPatch) -> Iterator[redis.Redis]:
    """Not emptied: the worker waits on it."""
    monkeypatch.setattr(enqueue, "_paused_until", 0.0)
    with redis.Redis.from_url(django_settings.REDIS_URL) as client:
        yield client


@pytest.fixture(autouse=True)
def nothing_is_under_way(transactional_db: None, processes: Processes) -> Iterator[None]:
    """Before the tables are emptied under the worker's hands."""
    yield
    from tenants.scope import every_tenant

    with every_tenant():
        until(lambda: not Encoding.objects.filter(state__in=("pending", "stale")).exists(), "the work is done", 90)
