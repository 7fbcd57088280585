"""The playground streams both answers, and the injected one is sooner."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Locator, expect
from tenants.models import Tenant
from tenants.services import tenant_close

from tests.stack.app import App
from tests.stack.browser.visitor import Visitor

pytestmark = pytest.mark.django_db


def figure(column: Locator, name: str) -> Locator:
    return column.locator(f"[data-figure={name}]")


def milliseconds(column: Locator) -> int:
    return int(figure(column, "ttft").inner_text().removesuffix(" ms").replace(",", ""))


def test_both_answers_stream_and_the_injected_one_is_sooner(
    app: App, home: Tenant, owner: User, visit: Callable[..., Visitor]
) -> None:
    app.remember("ada", *(f"Ada keeps {i} bees in the hive number {i} behind her house in Bonn." for i in range(40)))
    app.until_encoded("ada")
    visitor = visit(owner)
    page = visitor.go(f"/t/{home.slug}/playground/")
    page.get_by_label("User").fill("ada")
    page.get_by_label("Question").fill("What does Ada keep?")
    page.get_by_role("button", name="Ask").click()
    injected, as_text = page.locator("[data-column]").all()
    expect(figure(as_text, "total")).not_to_have_text("–")
    for column in (injected, as_text):
        assert column.locator(".assistant").inner_text().strip()
        expect(figure(column, "facts")).to_have_text("40")
    assert milliseconds(injected) < milliseconds(as_text)
    expect(page.locator("#sooner")).to_contain_text("Memory injected: the first token came")
    assert visitor.complaints() == []


def test_what_the_engine_refuses_is_shown_where_the_answer_would_be(
    home: Tenant, owner: User, visit: Callable[..., Visitor]
) -> None:
    tenant_close(tenant=home, actor="test")
    page = visit(owner).go(f"/t/{home.slug}/playground/")
    page.get_by_label("User").fill("ada")
    page.get_by_label("Question").fill("What does Ada keep?")
    page.get_by_role("button", name="Ask").click()
    expect(page.locator(".talk .problem")).to_have_count(2)
    expect(page.locator(".talk .problem").first).to_contain_text("key")
