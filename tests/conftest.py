"""Servers for the tests: those named by DATABASE_URL and REDIS_URL, else the embedded ones while the run lasts."""

from contextlib import ExitStack

import pytest
import redis
from config.services import Services
from django.conf import settings

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
