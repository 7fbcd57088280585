from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest
from django.conf import settings
from pytest_django import DjangoDbBlocker
from tenants.services import tenant_create
from transformers import AutoTokenizer

from memory.models import resolve_model
from memory.store import BlobStore
from tests.stack.app import App
from tests.stack.stack import Stack, running_stack


@pytest.fixture(scope="package", autouse=True)
def stack(
    django_db_setup: None, django_db_blocker: DjangoDbBlocker, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Stack]:
    """What tests store is committed, as the processes have to see it: each has tenants of its own, none is cleaned up
    before the end.
    """
    with running_stack(tmp_path_factory.mktemp("stack"), django_db_blocker) as stack:
        yield stack


@pytest.fixture(autouse=True)
def _django_db_marker() -> None:
    """In place of pytest-django's, which would roll back or empty tables that running processes use. The tests are
    marked `django_db` all the same, for without marked tests there is no test database.
    """


@pytest.fixture
def store(stack: Stack) -> BlobStore:
    return BlobStore(stack.env.store_path)


@pytest.fixture
def app(stack: Stack) -> App:
    return new_app(stack)


@pytest.fixture
def other_app(stack: Stack) -> App:
    """Of another tenant."""
    return new_app(stack)


def new_app(stack: Stack) -> App:
    return App.of(stack, tenant_create(name="Home", slug=uuid4().hex))


@pytest.fixture(scope="session")
def tokenizer() -> Any:
    return AutoTokenizer.from_pretrained(str(resolve_model(settings.ENV.model, settings.ENV.home)))
