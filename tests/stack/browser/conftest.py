"""Chromium against the whole product: web, worker and engine with the demo model."""

from collections.abc import Callable, Iterator
from uuid import uuid4

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client
from playwright.sync_api import Browser, expect, sync_playwright
from tenants.models import Tenant
from tenants.services import tenant_found

from frontend.screenshots import find_chromium
from tests.stack.app import App
from tests.stack.browser.visitor import Visitor
from tests.stack.stack import Stack

expect.set_options(timeout=30_000)
CHROMIUM = find_chromium()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if CHROMIUM is None:
        skip = pytest.mark.skip(reason="no Chromium found: install the package chromium to test the pages in it")
        for item in items:
            if "tests/stack/browser" in item.path.as_posix():
                item.add_marker(skip)


@pytest.fixture(scope="package")
def chromium(stack: Stack) -> Iterator[Browser]:
    """Playwright keeps an event loop in this thread, beside which Django would not ask the database."""
    with pytest.MonkeyPatch.context() as patch, sync_playwright() as playwright:
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def owner(stack: Stack) -> User:
    return User.objects.create_user(uuid4().hex)


@pytest.fixture
def home(stack: Stack, owner: User) -> Tenant:
    """A tenant of the owner's."""
    return tenant_found(name="Home", slug=uuid4().hex, owner=owner)


@pytest.fixture
def app(stack: Stack, home: Tenant) -> App:
    return App.of(stack, home)


@pytest.fixture
def visit(stack: Stack, chromium: Browser) -> Iterator[Callable[..., Visitor]]:
    """`visit(user)` is that person's browser; at the end none may have seen an error or asked another host."""
    visitors: list[Visitor] = []

    def start(user: User | None = None, *, theme: str = "light") -> Visitor:
        visitor = Visitor.of(chromium, stack.web_url, session_of(user) if user else "", theme=theme)
        visitors.append(visitor)
        return visitor

    yield start
    for visitor in visitors:
        visitor.close()
    assert [trouble for visitor in visitors for trouble in visitor.troubles] == []


def session_of(user: User) -> str:
    client = Client()
    client.force_login(user)
    return client.cookies[settings.SESSION_COOKIE_NAME].value
