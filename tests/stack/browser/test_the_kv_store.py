"""The KV store's page in a browser: what is ordered there happens in the engine, and the page follows."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from facts.models import Encoding, Fact
from playwright.sync_api import Page, expect
from tenants.models import Tenant
from tenants.scope import every_tenant, tenant_scope

from tests.stack.app import App
from tests.stack.browser.visitor import Visitor
from tests.stack.stack import Stack
from tests.workers.running.processes import until

pytestmark = pytest.mark.django_db
QUESTION = "What does Ada keep?"


def order(page: Page, label: str) -> None:
    page.get_by_role("button", name=label, exact=True).click()
    page.get_by_role("button", name="Go on").click()
    expect(page.get_by_role("status").first).to_contain_text("ada")


def cell(page: Page, column: str) -> str:
    """Of Ada's row, asked anew."""
    page.reload(wait_until="networkidle")
    table = page.get_by_role("region", name="Largest users")
    heads = table.locator("thead th").all_inner_texts()
    if column not in heads:
        return ""
    return table.locator("tbody tr", has_text="ada").locator("th, td").nth(heads.index(column)).inner_text()


def test_a_user_is_moved_down_up_and_out(
    app: App, stack: Stack, home: Tenant, owner: User, visit: Callable[..., Visitor]
) -> None:
    app.remember("ada", "Ada keeps bees behind her house.", "Ada lives in Bonn.")
    app.until_encoded("ada")
    app.ask("ada", QUESTION)
    visitor = visit(owner)
    page = visitor.go(f"/t/{home.slug}/kv/")
    order(page, "Promote ada")
    until(lambda: cell(page, "Host memory") not in ("", "–"), "the engine has her KV in memory", 150)
    assert visitor.complaints() == []

    order(page, "Demote ada")
    until(lambda: cell(page, "Host memory") == "–", "it has left memory", 150)
    assert cell(page, "Disk") != "–"
    assert app.ask("ada", QUESTION).injected  # from disk

    with tenant_scope(home):
        before = set(Encoding.objects.filter(state="ready").values_list("pk", flat=True))
    order(page, "Drop the KV of ada")
    until(lambda: not still_there(before), "her KV is dropped", 60)
    with tenant_scope(home):
        assert Fact.objects.filter(status="active").count() == 2
    app.until_encoded("ada")
    assert app.ask("ada", QUESTION).facts == 2
    expect(page.get_by_role("heading", name="KV store")).to_be_visible()


def still_there(ids: set[int]) -> bool:
    with every_tenant():
        return Encoding.objects.filter(pk__in=ids).exists()


def test_cancelling_orders_nothing(app: App, home: Tenant, owner: User, visit: Callable[..., Visitor]) -> None:
    app.remember("ada", "Ada keeps bees behind her house.")
    app.until_encoded("ada")
    page = visit(owner).go(f"/t/{home.slug}/kv/")
    page.get_by_role("button", name="Drop the KV of ada").click()
    page.get_by_role("button", name="Cancel").click()
    with tenant_scope(home):
        assert not Encoding.objects.filter(state="stale").exists()
