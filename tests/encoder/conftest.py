from collections.abc import Iterator
from uuid import uuid4

import pytest
from pytest_django import DjangoDbBlocker
from tenants.services import tenant_create

from memory.store import BlobStore
from tests.stack.app import App
from tests.stack.stack import Stack, running_stack


@pytest.fixture(scope="package", autouse=True)
def stack(
    django_db_setup: None, django_db_blocker: DjangoDbBlocker, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Stack]:
    """A worker that encodes with an engine of its own, beside the engine that serves."""
    folder = tmp_path_factory.mktemp("local")
    settings = {"encoder": "local", "encoder_flags": "--max-model-len 2048"}
    with running_stack(folder, django_db_blocker, **settings) as stack:
        yield stack


@pytest.fixture(autouse=True)
def _django_db_marker() -> None:
    """In place of pytest-django's, which would empty tables that running processes use."""


@pytest.fixture
def store(stack: Stack) -> BlobStore:
    return BlobStore(stack.env.store_path)


@pytest.fixture
def app(stack: Stack) -> App:
    return App.of(stack, tenant_create(name="Home", slug=uuid4().hex))
