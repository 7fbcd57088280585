from collections.abc import Iterator

import pytest
from facts import enqueue

from inference.gateway.middleware import Gateway
from inference.gateway.records import RecordWriter
from inference.gateway.runtime import Runtime, load_runtime
from tests.gateway.echo import echo
from tests.gateway.helpers import close_connections


@pytest.fixture(scope="session")
def loaded_runtime() -> Runtime:
    return load_runtime(max_model_len=2048)


@pytest.fixture
def runtime(loaded_runtime: Runtime) -> Runtime:
    """The demo model's tokenizer and embeddings; the golden check has passed, no owner is known yet."""
    loaded_runtime.golden, loaded_runtime.max_model_len, loaded_runtime.mismatched_segments = "passed", 2048, 0
    loaded_runtime.snapshots.clear()
    return loaded_runtime


@pytest.fixture
def gateway(runtime: Runtime) -> Iterator[Gateway]:
    """Ready, before a server that tells what it was sent."""
    gateway = Gateway(echo)
    gateway.service._runtime, gateway.service._records = runtime, RecordWriter()
    yield gateway
    gateway.service._records.close()
    close_connections()


@pytest.fixture(autouse=True)
def broker_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing here waits for a worker."""
    monkeypatch.setattr(enqueue, "_paused_until", float("inf"))
