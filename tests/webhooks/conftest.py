from collections.abc import Iterator
from typing import Any

import pytest
import redis

from tests.factories import People, people_create
from tests.webhooks.receiver import Receiver


@pytest.fixture
def people(transactional_db: None, broker: redis.Redis) -> People:
    """Messages are sent only where everything is really committed."""
    return people_create()


@pytest.fixture
def receiver(settings: Any) -> Iterator[Receiver]:
    """On the loopback address, which webhooks may reach in this test."""
    settings.ENV = settings.ENV.model_copy(update={"webhooks_to_private": True})
    with Receiver() as receiver:
        yield receiver
