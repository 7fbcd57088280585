"""Servers for the tests: those named by DATABASE_URL and REDIS_URL, else the embedded ones while the run lasts."""

import json
import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest
import redis
from config.services import Services
from django.conf import settings
from hypothesis import settings as hypothesis_settings

if TYPE_CHECKING:
    from tenants.models import Tenant

    from tests.factories import People
    from tests.object_store import ObjectServer
    from tests.reranker import Reranker
    from tests.tracing.collector import Collector

_held = ExitStack()
hypothesis_settings.register_profile("busy", deadline=None)  # a busy machine is no fault of what is tested
hypothesis_settings.load_profile("busy")


def pytest_configure(config: pytest.Config) -> None:
    if config.option.collectonly or config.option.help:
        return
    _held.enter_context(Services(settings.ENV).hold())
    if settings.ENV.embeds_redis:
        with redis.Redis.from_url(settings.REDIS_URL) as client:
            client.flushdb()  # tasks that an earlier run left


def pytest_unconfigure() -> None:
    _held.close()


@pytest.fixture
def people(db: None) -> "People":
    from tests.factories import people_create  # models need Django, which starts after this file is read

    return people_create()


@pytest.fixture
def tenant(people: "People") -> Iterator["Tenant"]:
    """The owner's and the member's; its scope is open during the test."""
    from tenants.scope import tenant_scope

    with tenant_scope(people.tenant):
        yield people.tenant


@pytest.fixture(scope="session")
def other_embedding_model(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The demo model with another pooling: vectors that have nothing to do with the demo model's own."""
    from memory.models import resolve_embedding_model

    folder = tmp_path_factory.mktemp("models") / "first-token"
    shutil.copytree(resolve_embedding_model("demo", settings.ENV.home), folder)
    pooling = folder / "1_Pooling" / "config.json"
    given = json.loads(pooling.read_text())
    modes = {name: name == "pooling_mode_cls_token" for name in given if name.startswith("pooling_mode")}
    pooling.write_text(json.dumps({**given, **modes}))
    return str(folder)


@pytest.fixture(scope="session")
def object_server() -> Iterator["ObjectServer"]:
    from tests.object_store import ObjectServer, environment

    with ObjectServer() as server, environment(server.variables):
        yield server


@pytest.fixture
def bucket(object_server: "ObjectServer") -> str:
    """The URL of an empty object store."""
    return object_server.make_bucket()


@pytest.fixture
def reranker(settings: Any) -> Iterator["Reranker"]:
    """The configured one. Its order is what the test says."""
    from tests.reranker import reranking_with

    with reranking_with(settings) as reranker:
        yield reranker


@pytest.fixture
def collector(settings: Any) -> Iterator["Collector"]:
    """Spans of this process' own go there; the last ones when `config.tracing.end_tracing` is called."""
    from config import tracing

    from tests.tracing.collector import Collector

    with Collector() as collector:
        settings.ENV = settings.ENV.model_copy(update={"otlp_endpoint": collector.url})
        tracing.start_tracing("tests")
        yield collector
        tracing.end_tracing()


@pytest.fixture
def broker(monkeypatch: pytest.MonkeyPatch) -> Iterator[redis.Redis]:
    """Empty queues that no worker reads."""
    from facts import enqueue

    monkeypatch.setattr(enqueue, "_paused_until", 0.0)
    with redis.Redis.from_url(settings.REDIS_URL) as client:
        client.flushdb()
        yield client
        client.flushdb()
