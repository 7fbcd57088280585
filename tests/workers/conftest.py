from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import redis

from memory.store import BlobStore
from tests.factories import People, people_create
from tests.workers.chat_server import ChatServer
from tests.workers.troubled_engine import TroubledEngine, free_port
from workers import attempts


@pytest.fixture(autouse=True)
def store(tmp_path: Path, settings: Any) -> BlobStore:
    """A store of the test's own, and no engine at the address that is configured."""
    update = {"store": tmp_path / "blobs", "engine_url": f"http://127.0.0.1:{free_port()}"}
    settings.ENV = settings.ENV.model_copy(update=update)
    return BlobStore(tmp_path / "blobs")


@pytest.fixture
def engine(settings: Any) -> Iterator[TroubledEngine]:
    """An engine with the trouble that a test gives it."""
    with TroubledEngine() as engine:
        settings.ENV = settings.ENV.model_copy(update={"engine_url": engine.url})
        yield engine


@pytest.fixture
def people(db: None, broker: redis.Redis) -> People:
    """Tasks are sent only where everything is really committed: `django_db(transaction=True)`."""
    return people_create()


@pytest.fixture
def chat_server(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    """An OpenAI-compatible API that is configured to find facts; tasks are tried again at once."""
    monkeypatch.setattr(attempts, "delay", lambda retries: 0.0)
    with ChatServer() as server:
        update = {"extractor_url": f"{server.url}/v1", "extractor_key": "sk-test", "extractor_model": "big"}
        settings.ENV = settings.ENV.model_copy(update=update)
        yield server
