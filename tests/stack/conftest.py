from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest
from django.conf import settings
from django.core.management import call_command
from django.db import connection
from pytest_django import DjangoDbBlocker
from tenants.services import tenant_create
from transformers import AutoTokenizer

from memory.models import resolve_model
from memory.store import BlobStore
from tests.stack.app import App
from tests.stack.stack import Stack
from tests.workers.troubled_engine import free_port


@pytest.fixture(scope="package", autouse=True)
def stack(
    django_db_setup: None, django_db_blocker: DjangoDbBlocker, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Stack]:
    """What tests store is committed, as the processes have to see it: each has tenants of its own, none is cleaned up
    before the end.
    """
    folder = tmp_path_factory.mktemp("stack")
    update = {"store": folder / "blobs", "engine_port": free_port(), "engine_url": "", "home": folder}
    env = settings.ENV.model_copy(update={**update, "web_port": free_port()})
    database = str(connection.settings_dict["NAME"])
    assert database.startswith("test_"), "it is emptied at the end"
    with django_db_blocker.unblock():
        with Stack(env, home=settings.ENV.home, database=database) as stack:
            yield stack
        call_command("flush", interactive=False, verbosity=0)


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
