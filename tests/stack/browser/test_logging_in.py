"""Logging in, and failing to."""

from collections.abc import Callable

import pytest
from axes.models import AccessAttempt
from playwright.sync_api import expect
from tenants.models import Tenant

from tests.stack.browser.visitor import Visitor

pytestmark = pytest.mark.django_db


def test_who_fails_too_often_reads_when_to_try_again(visit: Callable[..., Visitor], home: Tenant) -> None:
    visitor = visit()
    page = visitor.go("/login/")
    for _ in range(10):
        page.get_by_label("Username").fill(f"nobody-{home.slug}")
        page.get_by_label("Password").fill("wrong")
        page.get_by_role("button", name="Sign in").click()
        page.wait_for_load_state("networkidle")
    expect(page.get_by_role("alert").first).to_contain_text("Try again after")
    assert visitor.complaints() == []
    AccessAttempt.objects.all().delete()  # other tests come from the same address
    visitor.troubles = [trouble for trouble in visitor.troubles if "429" not in trouble]
