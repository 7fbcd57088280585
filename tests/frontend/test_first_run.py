"""From an empty installation to a tenant with a key."""

import re

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from tenants.models import Tenant
from tenants.selectors import api_key_authenticate
from tenants.setup import setup_code

from tests.factories import People
from tests.frontend.conftest import Clients, signed_in_as

pytestmark = pytest.mark.django_db
HOME, WELCOME, FIRST_TENANT = (reverse(f"dashboard:{name}") for name in ("home", "welcome", "first-tenant"))
ACCOUNT = {"username": "boss", "password": "a long password"}


def test_an_empty_installation_leads_from_account_to_key() -> None:
    browser = Client()
    assert browser.get(HOME)["location"] == WELCOME
    code = setup_code()
    assert code in browser.get(WELCOME, {"code": code}).content.decode()
    assert browser.post(WELCOME, {**ACCOUNT, "code": code})["location"] == FIRST_TENANT
    made = browser.post(FIRST_TENANT, {"name": "Bee keepers"})
    page = made.content.decode()
    assert made.status_code == 201
    raw = re.findall(r"isk_[\w-]{20,}", page)
    assert len(raw) == 3
    api_key = api_key_authenticate(raw=raw[0])
    assert api_key is not None
    assert api_key.tenant.slug == "bee-keepers"
    assert "http://testserver/v3/memories/add/" in page
    assert browser.get(HOME)["location"] == reverse("dashboard:overview", args=["bee-keepers"])
    assert browser.get(FIRST_TENANT)["location"] == HOME


@pytest.mark.parametrize("change", [{"code": "guessed"}, {"password": "short"}, {"username": ""}])
def test_without_the_code_or_a_fit_account_nothing_is_made(change: dict[str, str]) -> None:
    assert Client().post(WELCOME, {**ACCOUNT, "code": setup_code(), **change}).status_code == 400
    assert not User.objects.exists()


def test_the_code_is_worth_nothing_once_there_is_an_account() -> None:
    User.objects.create_user("first")
    answer = Client().post(WELCOME, {**ACCOUNT, "code": setup_code()})
    assert (answer.status_code, answer["location"]) == (302, reverse("dashboard:login"))
    assert User.objects.count() == 1
    assert Client().get(WELCOME)["location"] == FIRST_TENANT


def test_who_is_no_staff_waits_for_an_invitation() -> None:
    browser = signed_in_as(User.objects.create_user("guest"))
    page = browser.get(HOME, follow=True)
    assert "Ask an owner of one for an invitation" in page.content.decode()
    assert browser.post(FIRST_TENANT, {"name": "Mine"})["location"] == HOME
    assert browser.post(reverse("dashboard:tenants"), {"name": "Mine"}).status_code == 404
    assert not Tenant.objects.exists()


def test_staff_make_further_tenants_and_own_them(people: People, clients: Clients) -> None:
    answer = clients.staff.post(reverse("dashboard:tenants"), {"name": "Third"}, follow=True)
    assert answer.redirect_chain[-1][0] == reverse("dashboard:keys", args=["third"])
    assert clients.staff.post(reverse("dashboard:tenants"), {"name": " "}).status_code == 400


def test_a_second_tenant_of_a_name_gets_an_address_of_its_own(people: People, clients: Clients) -> None:
    for _ in range(2):
        assert clients.staff.post(reverse("dashboard:tenants"), {"name": "Twice"}).status_code == 302
    assert Tenant.objects.filter(name="Twice").count() == 2


def test_people_see_their_tenants_and_no_others(people: People, clients: Clients) -> None:
    pages = [client.get(reverse("dashboard:tenants")).content.decode() for client in (clients.viewer, clients.staff)]
    assert ["Elsewhere" in page for page in pages] == [False, True]


def test_signing_in_and_out(people: People) -> None:
    people.owner.set_password("a long password")
    people.owner.save()
    browser = Client()
    path = reverse("dashboard:overview", args=[people.tenant.slug])
    form = {"username": "owner", "password": "wrong", "next": path}
    assert browser.post(reverse("dashboard:login"), form).status_code == 200
    assert browser.post(reverse("dashboard:login"), {**form, "password": "a long password"})["location"] == path
    assert browser.get(path).status_code == 200
    assert browser.post(reverse("dashboard:logout")).status_code == 302
    assert browser.get(path).status_code == 302


def test_signing_in_leads_nowhere_else(people: People) -> None:
    people.owner.set_password("a long password")
    people.owner.save()
    form = {"username": "owner", "password": "a long password", "next": "https://example.com/"}
    assert Client().post(reverse("dashboard:login"), form)["location"] == HOME
