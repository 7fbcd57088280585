import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings

from tests.engine.harness import Engine

os.environ.setdefault("VLLM_CPU_KVCACHE_SPACE", "1")
os.environ.setdefault("HF_HUB_OFFLINE", "1")


@pytest.fixture(scope="package")
def home() -> Path:
    return settings.ENV.home


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("blobs")


@pytest.fixture(scope="module")
def engine(home: Path, store: Path) -> Iterator[Engine]:
    with Engine(home, store, block_size=32) as engine:
        yield engine
