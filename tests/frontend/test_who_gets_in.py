"""Every address asks who comes: nobody signs in first, strangers find nothing, a role does what it may and no more."""

from typing import Any

import pytest
from django.urls import reverse
from tenants.access import Power
from tenants.models import Tenant

from frontend.views.base import OpenView, SignedInView, StaffView, TenantView
from tests.factories import People
from tests.frontend.addresses import Address, addresses
from tests.frontend.conftest import Clients

OPEN = {"home", "login", "welcome", "invitation"}
ALL = addresses()
TENANTS = [address for address in ALL if address.is_tenants]
STAFFS = [address for address in ALL if issubclass(address.view, StaffView)]


def name_of(address: Address) -> str:
    return address.name


def test_every_view_is_one_of_those_that_ask() -> None:
    assert all(issubclass(address.view, OpenView) for address in ALL)
    unasked = {address.name for address in ALL if not issubclass(address.view, SignedInView)}
    assert unasked == OPEN


def test_what_is_a_tenants_lies_below_its_slug_and_nothing_else_does() -> None:
    assert {address.name for address in ALL if "slug" in address.needs} == {address.name for address in TENANTS}


@pytest.mark.parametrize("address", TENANTS, ids=name_of)
def test_each_method_names_the_least_that_it_needs(address: Address) -> None:
    view = address.view
    assert issubclass(view, TenantView)
    handled = {method for method in ("GET", "POST", "PUT", "PATCH", "DELETE") if address.takes(method)}
    assert set(view.powers) <= handled
    assert all(power >= Power.ADMIN for method, power in view.powers.items() if method != "GET")


@pytest.mark.parametrize("method", ["get", "post"])
@pytest.mark.parametrize("address", TENANTS, ids=name_of)
def test_nobody_is_sent_to_sign_in(address: Address, method: str, people: People, clients: Clients) -> None:
    answer = getattr(clients.nobody, method)(address.path(people.tenant.slug))
    assert (answer.status_code, answer["location"].split("?")[0]) == (302, reverse("dashboard:login"))


@pytest.mark.parametrize("method", ["get", "post"])
@pytest.mark.parametrize("address", TENANTS, ids=name_of)
def test_for_a_stranger_there_is_nothing(address: Address, method: str, people: People, clients: Clients) -> None:
    theirs = getattr(clients.stranger, method)(address.path(people.tenant.slug))
    none = getattr(clients.stranger, method)(address.path("no-such-tenant"))
    assert (theirs.status_code, none.status_code, theirs.content) == (404, 404, none.content)


@pytest.mark.parametrize("method", ["get", "post"])
@pytest.mark.parametrize("address", TENANTS, ids=name_of)
def test_a_viewer_does_only_what_viewers_may(address: Address, method: str, people: People, clients: Clients) -> None:
    view = address.view
    assert issubclass(view, TenantView)
    status = getattr(clients.viewer, method)(address.path(people.tenant.slug)).status_code
    if not address.takes(method):
        assert status == 405
    elif view.powers.get(method.upper(), Power.STAFF + 1) > Power.VIEWER:
        assert status == 403
    else:
        assert status in (200, 404)


@pytest.mark.parametrize("address", STAFFS, ids=name_of)
def test_the_platforms_pages_are_its_staffs(address: Address, people: People, clients: Clients) -> None:
    path = address.path("")
    found = [client.get(path).status_code for client in (clients.staff, clients.owner, clients.nobody)]
    assert found == [200, 404, 302]


def test_staff_may_do_in_every_tenant_what_its_owner_may(people: People, clients: Clients) -> None:
    for tenant in (people.tenant, people.other_tenant):
        assert clients.staff.get(reverse("dashboard:settings", args=[tenant.slug])).status_code == 200
        assert clients.staff.post(reverse("dashboard:pause", args=[tenant.slug])).status_code == 302
    assert not Tenant.objects.filter(is_active=True).exists()


def test_an_owner_pauses_and_only_staff_opens_again(people: People, clients: Clients) -> None:
    slug = people.tenant.slug
    pause, resume = (reverse(f"dashboard:{name}", args=[slug]) for name in ("pause", "resume"))
    assert [client.post(pause).status_code for client in (clients.admin, clients.owner)] == [403, 302]
    assert not Tenant.objects.get(slug=slug).is_active
    assert [client.post(resume).status_code for client in (clients.owner, clients.staff)] == [403, 302]
    assert Tenant.objects.get(slug=slug).is_active


def test_an_inactive_account_is_out(people: People, clients: Clients) -> None:
    people.owner.is_active = False
    people.owner.save()
    assert clients.owner.get(reverse("dashboard:overview", args=[people.tenant.slug])).status_code == 302


def test_answers_forbid_loading_from_elsewhere_and_keeping(people: People, clients: Clients) -> None:
    answer = clients.viewer.get(reverse("dashboard:overview", args=[people.tenant.slug]))
    assert answer["content-security-policy"].startswith("default-src 'self'")
    assert answer["cache-control"] == "no-store"


def test_a_fragment_asked_for_by_nobody_sends_the_whole_page_to_sign_in(people: People, clients: Clients) -> None:
    path = reverse("dashboard:overview", args=[people.tenant.slug])
    headers = {"HX-Request": "true", "HX-Current-URL": f"http://testserver{path}"}
    answer = clients.nobody.get(path, headers=headers)
    assert answer["hx-redirect"] == f"{reverse('dashboard:login')}?next={path}"


def test_forms_without_their_token_are_refused(people: People, clients: Clients) -> None:
    clients.owner.handler.enforce_csrf_checks = True
    assert clients.owner.post(reverse("dashboard:pause", args=[people.tenant.slug])).status_code == 403


def test_a_new_secret_logs_nobody_out_while_the_one_before_is_known(
    people: People, clients: Clients, settings: Any
) -> None:
    page = reverse("dashboard:overview", args=[people.tenant.slug])
    old, settings.SECRET_KEY = settings.SECRET_KEY, "n" * 64
    settings.SECRET_KEY_FALLBACKS = [old]
    assert clients.owner.get(page).status_code == 200
    settings.SECRET_KEY_FALLBACKS = []
    assert (clients.owner.get(page).status_code, clients.admin.get(page).status_code) == (200, 302)
