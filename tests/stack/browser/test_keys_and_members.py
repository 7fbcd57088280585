"""Making and revoking a key, inviting and joining, by hand."""

from collections.abc import Callable

import httpx
import pytest
from django.contrib.auth.models import User
from playwright.sync_api import expect
from tenants.models import Tenant

from tests.stack.browser.visitor import Visitor
from tests.stack.stack import Stack

pytestmark = pytest.mark.django_db


def ping(stack: Stack, key: str) -> int:
    return httpx.get(f"{stack.web_url}/v1/ping/", headers={"authorization": f"Token {key}"}).status_code


def test_a_key_is_made_copied_and_revoked(
    stack: Stack, home: Tenant, owner: User, visit: Callable[..., Visitor]
) -> None:
    page = visit(owner).go(f"/t/{home.slug}/keys/")
    page.get_by_label("Name").fill("front end")
    page.get_by_role("button", name="Make the key").click()
    page.get_by_role("button", name="Copy").click()
    key = page.evaluate("navigator.clipboard.readText()")
    assert ping(stack, key) == 200
    page.get_by_role("button", name="Revoke front end").click()
    page.get_by_role("button", name="Cancel").click()
    assert ping(stack, key) == 200
    page.get_by_role("button", name="Revoke front end").click()
    page.get_by_role("button", name="Go on").click()
    expect(page.get_by_text("works no more")).to_be_visible()
    assert ping(stack, key) == 401


def test_somebody_is_invited_and_joins(home: Tenant, owner: User, visit: Callable[..., Visitor]) -> None:
    page = visit(owner).go(f"/t/{home.slug}/members/")
    page.get_by_label("Role", exact=True).last.select_option("viewer")
    page.get_by_role("button", name="Make a link").click()
    link = page.locator("#link").inner_text()
    guest = visit()
    theirs = guest.go(link)
    assert guest.complaints() == []
    theirs.get_by_label("User name").fill(f"guest-{home.slug}")
    theirs.get_by_label("Password").fill("a long password")
    theirs.get_by_role("button", name="Make an account and join").click()
    expect(theirs.get_by_role("heading", name="Overview")).to_be_visible()
    theirs.get_by_role("link", name="API keys").click()
    expect(theirs.get_by_role("heading", name="API keys")).to_be_visible()
    expect(theirs.get_by_role("button", name="Make the key")).to_have_count(0)
