"""The first run: account, tenant, key, and two commands that work as pasted."""

import subprocess
import sys
from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import expect
from tenants.models import Tenant
from tenants.setup import setup_code

from tests.stack.browser.visitor import Visitor
from tests.stack.stack import Stack

pytestmark = pytest.mark.django_db


@pytest.fixture
def nothing(stack: Stack) -> None:
    Tenant.objects.all().delete()
    User.objects.all().delete()


def test_the_wizard_leads_to_an_answer_with_memory(nothing: None, visit: Callable[..., Visitor]) -> None:
    visitor = visit()
    page = visitor.go(f"/welcome/?code={setup_code()}")
    assert visitor.complaints() == []
    page.get_by_label("User name").fill("boss")
    page.get_by_label("Password").fill("a long password")
    page.get_by_role("button", name="Make the account").click()
    page.get_by_label("Name").fill("Bee keepers")
    assert visitor.complaints() == []
    page.get_by_role("button", name="Make the tenant").click()
    expect(page.get_by_text("Waiting for the first fact")).to_be_visible()
    assert visitor.complaints() == []

    page.get_by_role("button", name="Copy").nth(1).click()
    curl = page.evaluate("navigator.clipboard.readText()")
    subprocess.run(["bash", "-c", curl], check=True, capture_output=True, timeout=240)
    expect(page.get_by_text("1 fact stored")).to_be_visible()

    page.get_by_role("button", name="Copy").nth(2).click()
    python = page.evaluate("navigator.clipboard.readText()")
    said = subprocess.run([sys.executable, "-c", python], check=True, capture_output=True, text=True, timeout=240)
    assert said.stdout.strip()
    expect(page.get_by_text("Answered with memory")).to_be_visible()
    page.get_by_role("link", name="To the overview").click()
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()
