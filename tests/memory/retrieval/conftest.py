from pathlib import Path

import pytest

from memory.models import resolve_embedding_model
from memory.retrieval import Embedder, get_embedder


@pytest.fixture(scope="package")
def embedding_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return resolve_embedding_model("demo", tmp_path_factory.mktemp("home"))


@pytest.fixture(scope="package")
def embedder(embedding_folder: Path) -> Embedder:
    return get_embedder(embedding_folder)
