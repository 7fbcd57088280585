"""Every page, light and dark, can be used with a keyboard and a screen reader, and is whole."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from playwright.sync_api import expect
from tenants.invitations import invitation_create
from tenants.models import Tenant
from tenants.services import api_key_create
from usage.services import RequestRecordData, request_records_write

from tests.frontend.addresses import Address, addresses
from tests.stack.app import App
from tests.stack.browser.visitor import Visitor

pytestmark = pytest.mark.django_db
TENANTS = [
    address
    for address in addresses()
    if address.needs == ("slug",) and "GET" in address.powers and "csv" not in address.name
]


def name_of(address: Address) -> str:
    return address.name


@pytest.fixture
def lively(home: Tenant, app: App) -> Tenant:
    """With something on every page."""
    app.remember("ada", "Ada keeps bees.", "Ada lives in Bonn.")
    api_key_create(tenant=home, name="old", expires_at=timezone.now() - timedelta(days=1))
    invitation_create(tenant=home, role="viewer", email="new@example.com", actor="test")
    for mode, ttft in (("inject", 80.0), ("prompt", 500.0), ("none", 50.0)):
        at = timezone.now() - timedelta(minutes=30)
        data = RequestRecordData(
            tenant_id=home.pk, mode=mode, status=200, ttft_ms=ttft, prompt_tokens=100, owner_name="ada", created_at=at
        )
        request_records_write([data] * 5)
    return home


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("address", TENANTS, ids=name_of)
def test_a_tenants_page(
    address: Address, theme: str, lively: Tenant, owner: User, visit: Callable[..., Visitor]
) -> None:
    visitor = visit(owner, theme=theme)
    page = visitor.go(address.path(lively.slug))
    assert page.locator("html").get_attribute("data-theme") == theme
    assert visitor.complaints() == []


@pytest.mark.parametrize(
    "path", ["/login/", "/tenants/", "/platform/", "/platform/kv/", "/invitations/none/", "/t/none/"]
)
def test_the_platforms_pages(path: str, lively: Tenant, visit: Callable[..., Visitor]) -> None:
    staff = User.objects.create_user(f"staff of {lively.slug}", is_staff=True)
    visitor = visit(None if path == "/login/" else staff)
    visitor.go(path)
    assert visitor.complaints() == []
    visitor.troubles = [trouble for trouble in visitor.troubles if "404" not in trouble and "410" not in trouble]


def test_the_keyboard_reaches_the_content_first(lively: Tenant, owner: User, visit: Callable[..., Visitor]) -> None:
    page = visit(owner).go(f"/t/{lively.slug}/")
    page.keyboard.press("Tab")
    expect(page.locator(":focus")).to_have_text("Skip to the content")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"


def test_menus_open_and_close_from_the_keyboard(lively: Tenant, owner: User, visit: Callable[..., Visitor]) -> None:
    page = visit(owner).go(f"/t/{lively.slug}/")
    page.locator("#tenant-menu summary").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("link", name="See all tenants")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("link", name="See all tenants")).to_be_hidden()


def test_the_theme_that_was_chosen_stays(lively: Tenant, owner: User, visit: Callable[..., Visitor]) -> None:
    visitor = visit(owner)
    page = visitor.go(f"/t/{lively.slug}/")
    page.get_by_role("button", name="Light or dark").click()
    visitor.go(f"/t/{lively.slug}/keys/")
    assert page.locator("html").get_attribute("data-theme") == "dark"
