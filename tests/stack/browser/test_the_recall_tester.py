"""The recall tester, with the whole product behind it: what it says is what the chat then does."""

from collections.abc import Callable
from urllib.parse import urlencode

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import expect
from tenants.models import Tenant
from tenants.scope import every_tenant
from usage.models import RequestRecord

from tests.stack.app import App
from tests.stack.browser.visitor import Visitor
from tests.workers.running.processes import until

pytestmark = pytest.mark.django_db
QUESTION = "What does Ada keep?"


def test_a_question_is_explained_and_the_request_agrees(
    app: App, home: Tenant, owner: User, visit: Callable[..., Visitor]
) -> None:
    app.remember("ada", "Ada keeps bees.", "Ada lives in Bonn.", "Ada paints boats.")
    app.until_encoded("ada")
    visitor = visit(owner)
    page = visitor.go(f"/t/{home.slug}/recall/")
    page.get_by_label("User").fill("ada")
    page.get_by_label("Question").fill(QUESTION)
    page.get_by_label("Facts at most").fill("2")
    page.keyboard.press("Enter")
    used = page.get_by_role("region", name="Facts used")
    expect(used.get_by_text("injected")).to_have_count(2)
    expect(used.get_by_role("row").nth(1)).to_contain_text("Ada keeps bees.")
    expect(page.get_by_role("region", name="Facts left out").get_by_role("row")).to_have_count(2)
    parts = page.get_by_role("region", name="The prompt, part by part")
    expect(parts.get_by_text("fact, injected")).to_have_count(2)
    expect(parts.get_by_text(QUESTION)).to_be_visible()
    assert visitor.complaints() == []

    dark = visit(owner, theme="dark")
    deep = dark.go(f"/t/{home.slug}/recall/?{urlencode({'user': 'ada', 'q': QUESTION, 'k': 2})}")
    expect(deep.get_by_role("region", name="Facts used").get_by_text("injected")).to_have_count(2)
    deep.set_viewport_size({"width": 420, "height": 800})
    assert dark.complaints() == []

    reply = app.chat(QUESTION, memory={"user_id": "ada", "top_k": 2})
    expect(page.locator(".tile", has_text="Prompt tokens injected").locator("dd").first).to_have_text(
        str(reply.injected)
    )
    with every_tenant():
        records = RequestRecord.objects.filter(tenant=home)
        until(records.exists, "the request is recorded", 30)
        record = records.get()
    theirs = visitor.go(f"/t/{home.slug}/requests/{record.pk}/")
    expect(theirs.get_by_role("region", name="Facts in the prompt").get_by_text("injected")).to_have_count(2)
    assert visitor.complaints() == []
