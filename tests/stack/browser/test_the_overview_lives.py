"""The overview follows what happens, and says when it cannot."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import expect
from tenants.models import Tenant

from tests.stack.app import App
from tests.stack.browser.visitor import Visitor

pytestmark = pytest.mark.django_db


def test_a_chat_shows_up_by_itself(app: App, home: Tenant, owner: User, visit: Callable[..., Visitor]) -> None:
    app.remember("ada", "Ada keeps bees behind her house.")
    app.until_encoded("ada")
    page = visit(owner).go(f"/t/{home.slug}/?period=1h")
    expect(page.get_by_text("No request in this period.").first).to_be_visible()
    for mode in ("auto", "prompt"):
        app.ask("ada", "What does Ada keep?", mode=mode)
    expect(page.locator(".tile", has_text="Requests").locator("dd").nth(1)).to_have_text("2 in the period")
    expect(page.locator("[data-chart=ttft-data]")).to_be_visible()
    expect(page.locator("#engine")).to_contain_text("ready, injection allowed")
    expect(page.locator("#engine")).to_contain_text("Host")


def test_what_was_opened_stays_open_when_figures_come_anew(
    app: App, home: Tenant, owner: User, visit: Callable[..., Visitor]
) -> None:
    app.remember("ada", "Ada keeps bees behind her house.")
    app.ask("ada", "What does Ada keep?")
    page = visit(owner).go(f"/t/{home.slug}/?period=1h")
    page.locator("#ttft-figures summary").click()
    with page.expect_response(lambda response: "period=1h" in response.url):
        pass
    page.wait_for_timeout(200)
    assert page.locator("#ttft-figures").get_attribute("open") is not None


def test_a_period_is_chosen_and_stays_in_the_link(home: Tenant, owner: User, visit: Callable[..., Visitor]) -> None:
    page = visit(owner).go(f"/t/{home.slug}/")
    page.locator("select[name=period]").select_option("7d")
    page.wait_for_url("**period=7d**")
    page.get_by_role("link", name="p99").click()
    page.wait_for_url("**q=p99**")
    assert "period=7d" in page.url


def test_polling_slows_down_when_nobody_looks(home: Tenant, owner: User, visit: Callable[..., Visitor]) -> None:
    visitor = visit(owner)
    page = visitor.go(f"/t/{home.slug}/")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.clock.install()
    page.evaluate("Object.defineProperty(document, 'hidden', {get: () => true, configurable: true})")
    page.clock.run_for(30_000)
    unseen = len(asked)
    page.evaluate("Object.defineProperty(document, 'hidden', {get: () => false, configurable: true})")
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    page.wait_for_timeout(500)
    assert unseen == 0
    assert len(asked) >= 2


def test_a_server_that_is_away_is_told(home: Tenant, owner: User, visit: Callable[..., Visitor]) -> None:
    visitor = visit(owner)
    page = visitor.go(f"/t/{home.slug}/")
    visitor.context.set_offline(True)
    expect(page.get_by_role("alert").filter(has_text="cannot be reached")).to_be_visible()
    visitor.context.set_offline(False)
    expect(page.get_by_role("alert").filter(has_text="cannot be reached")).to_be_hidden()
    visitor.troubles.clear()
