"""Servers for the tests: those named by DATABASE_URL and REDIS_URL, else the embedded ones while the run lasts."""

from collections.abc import Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest
import redis
from config.services import Services
from django.conf import settings

if TYPE_CHECKING:
    from tenants.models import Tenant

    from tests.factories import People

_held = ExitStack()


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


@pytest.fixture
def broker(monkeypatch: pytest.MonkeyPatch) -> Iterator[redis.Redis]:
    """Empty queues that no worker reads."""
    from facts import enqueue

    monkeypatch.setattr(enqueue, "_paused_until", 0.0)
    with redis.Redis.from_url(settings.REDIS_URL) as client:
        client.flushdb()
        yield client
        client.flushdb()
