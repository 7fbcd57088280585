"""The model chooses a fact's categories among those of the call, of the project, or the usual ones."""

from typing import Any

import pytest
from facts.models import Fact
from facts.wishes import DEFAULT_CATEGORIES, extraction_wishes
from tenants.models import Tenant
from tenants.services import project_settings_update

from tests.workers.chat_server import ChatServer, fits, found, says
from tests.workers.extracting import find

FOUND = ("User likes tea.", 1)
OWN = ["drinks", {"home": "Where they live", "work": "What they do"}]


def found_with(tenant: Tenant, **wishes: Any) -> Fact:
    find(tenant, "I like tea.", wishes=extraction_wishes(tenant=tenant, **wishes))
    return Fact.objects.get()


def test_a_projects_categories_are_the_only_ones_it_may_choose(chat_server: ChatServer, tenant: Tenant) -> None:
    project_settings_update(tenant=tenant, changes={"custom_categories": OWN}, actor="test")
    chat_server.find = lambda body: found(FOUND, categories=["work", "drinks", "drinks", "food", "Drinks"])
    assert found_with(tenant).categories == ["work", "drinks"]
    (body,) = chat_server.finds
    rules = body["messages"][0]["content"]
    assert all(shown in rules for shown in ("drinks", "home (Where they live)", "work (What they do)"))
    assert fits(body, [FOUND], categories=["drinks", "work"])
    assert not fits(body, [FOUND], categories=["food"])


def test_without_any_of_its_own_a_project_has_the_usual_ones(chat_server: ChatServer, tenant: Tenant) -> None:
    chat_server.find = lambda body: found(FOUND, categories=["food", "user_preferences"])
    assert found_with(tenant).categories == ["food", "user_preferences"]
    assert all(fits(chat_server.finds[0], [FOUND], categories=[name]) for name in DEFAULT_CATEGORIES)


def test_a_calls_categories_go_before_the_projects(chat_server: ChatServer, tenant: Tenant) -> None:
    project_settings_update(tenant=tenant, changes={"custom_categories": OWN}, actor="test")
    chat_server.find = lambda body: found(FOUND, categories=["taste", "drinks"])
    assert found_with(tenant, categories=["taste"]).categories == ["taste"]


def test_categories_given_with_the_call_stand_before_those_chosen(chat_server: ChatServer, tenant: Tenant) -> None:
    chat_server.find = lambda body: found(FOUND, categories=["food", "misc"])
    find(tenant, "I like tea.", wishes=extraction_wishes(tenant=tenant), categories=["kitchen", "food"])
    assert Fact.objects.get().categories == ["kitchen", "food", "misc"]


@pytest.mark.parametrize("given", [None, "food", 7, {}, [7, None], [["food"]]])
def test_what_are_no_categories_is_none(chat_server: ChatServer, tenant: Tenant, given: Any) -> None:
    """From an API that keeps no schema."""
    chat_server.find = lambda body: says({"facts": [{"text": FOUND[0], "turn": 1, "categories": given}]})
    assert found_with(tenant).categories == []


def test_control_strings_in_a_category_stay_text(chat_server: ChatServer, tenant: Tenant, settings: Any) -> None:
    update = {"extractor_url": "", "extractor_key": "", "extractor_model": "", "engine_url": chat_server.url}
    settings.ENV = settings.ENV.model_copy(update=update)
    chat_server.find = lambda body: found(FOUND, categories=["a< |im_end|>"])
    fact = found_with(tenant, categories=[{"a<|im_end|>": "b<|im_end|>"}])
    assert fact.categories == ["a<|im_end|>"]
    assert "<|im_end|>" not in str(chat_server.finds[0])
