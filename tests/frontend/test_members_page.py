"""Members come by invitation, change roles, leave; an owner is always left."""

import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from tenants.invitations import invitation_create
from tenants.models import AuditEntry, Invitation, Membership, Tenant
from tenants.scope import tenant_scope
from tenants.services import tenant_close

from tests.factories import People
from tests.frontend.conftest import Clients, signed_in_as

ACCOUNT = {"username": "newcomer", "password": "a long password"}


def address(name: str, *args: object) -> str:
    return reverse(f"dashboard:{name}", args=args)


def membership_of(tenant: Tenant, user: User) -> Membership:
    with tenant_scope(tenant):
        return Membership.objects.get(user=user)


def roles(tenant: Tenant) -> dict[str, str]:
    with tenant_scope(tenant):
        return dict(Membership.objects.values_list("user__username", "role"))


def invited(clients: Clients, tenant: Tenant, role: str = "admin") -> str:
    """The link's path."""
    made = clients.owner.post(address("invite", tenant.slug), {"role": role, "email": "new@example.com"})
    assert made.status_code == 201
    (path,) = re.findall(r"http://testserver(/invitations/[\w-]+/)", made.content.decode())
    return str(path)


def test_a_link_makes_an_account_and_a_member_once(people: People, clients: Clients) -> None:
    path = invited(clients, people.tenant)
    browser = Client()
    assert "Join Home" in browser.get(path).content.decode()
    joined = browser.post(path, ACCOUNT)
    assert (joined.status_code, joined["location"]) == (302, address("overview", people.tenant.slug))
    assert browser.get(joined["location"]).status_code == 200
    assert User.objects.get(username="newcomer").email == ""  # the inviter's word is no proof
    assert roles(people.tenant)["newcomer"] == "admin"
    again = Client().post(path, {**ACCOUNT, "username": "second"})
    assert (again.status_code, User.objects.filter(username="second").exists()) == (410, False)


def test_who_has_an_account_joins_with_it(people: People, clients: Clients) -> None:
    path = invited(clients, people.tenant, "viewer")
    assert clients.stranger.post(path).status_code == 302
    assert roles(people.tenant)["stranger"] == "viewer"


def test_a_member_keeps_the_higher_role(people: People, clients: Clients) -> None:
    clients.owner.post(invited(clients, people.tenant, "viewer"))
    clients.viewer.post(invited(clients, people.tenant, "admin"))
    found = roles(people.tenant)
    assert (found["owner"], found["member"]) == ("owner", "admin")


@pytest.mark.parametrize(
    "change", [{"username": "owner"}, {"password": "short"}, {"username": "two words"}, {"username": ""}]
)
def test_a_bad_account_leaves_the_link_open(change: dict[str, str], people: People, clients: Clients) -> None:
    path, browser = invited(clients, people.tenant), Client()
    assert browser.post(path, {**ACCOUNT, **change}).status_code == 400
    assert browser.post(path, ACCOUNT).status_code == 302


def test_withdrawn_expired_and_paused_links_are_over(people: People, clients: Clients) -> None:
    withdrawn, expired, paused = (invited(clients, people.tenant) for _ in range(3))
    with tenant_scope(people.tenant):
        newest = list(Invitation.objects.order_by("created_at"))
    Invitation.objects.model._base_manager.filter(pk=newest[1].pk).update(expires_at=timezone.now() - timedelta(1))
    assert clients.owner.post(address("invitation-withdraw", people.tenant.slug, newest[0].pk)).status_code == 302
    assert [Client().get(path).status_code for path in (withdrawn, expired, paused)] == [410, 410, 200]
    tenant_close(tenant=people.tenant, actor="test")
    assert Client().post(paused, ACCOUNT).status_code == 410
    assert Client().get("/invitations/made-up/").status_code == 410


def test_another_tenants_invitation_is_not_there(people: People, clients: Clients) -> None:
    theirs, _ = invitation_create(tenant=people.other_tenant, role="viewer", email="", actor="test")
    assert clients.owner.post(address("invitation-withdraw", people.tenant.slug, theirs.pk)).status_code == 404


def test_an_owner_changes_roles_and_removes(people: People, clients: Clients) -> None:
    tenant = people.tenant
    member = address("member", tenant.slug, membership_of(tenant, people.member).pk)
    clients.owner.post(member, {"role": "owner"})
    assert roles(tenant)["member"] == "owner"
    clients.owner.post(member, {"role": "emperor"})
    assert roles(tenant)["member"] == "owner"
    clients.owner.post(member, {"remove": "1"})
    assert "member" not in roles(tenant)
    with tenant_scope(tenant):
        actions = list(AuditEntry.objects.order_by("created_at").values_list("action", "actor", "target"))
    assert actions == [("member.set", "user:owner", "member"), ("member.remove", "user:owner", "member")]


@pytest.mark.parametrize("change", [{"role": "viewer"}, {"remove": "1"}])
def test_the_last_owner_stays(change: dict[str, str], people: People, clients: Clients) -> None:
    path = address("member", people.tenant.slug, membership_of(people.tenant, people.owner).pk)
    page = clients.staff.post(path, change, follow=True).content.decode()
    assert "last owner" in page
    assert roles(people.tenant)["owner"] == "owner"


def test_who_removes_themselves_is_led_away(people: People, clients: Clients) -> None:
    second = User.objects.create_user("second")
    with tenant_scope(people.tenant):
        own = Membership.objects.create(tenant=people.tenant, user=second, role="owner")
    browser = signed_in_as(second)
    answer = browser.post(address("member", people.tenant.slug, own.pk), {"remove": "1"}, follow=True)
    assert answer.redirect_chain[-1][0] == address("tenants")


def test_another_tenants_member_is_not_there(people: People, clients: Clients) -> None:
    theirs = membership_of(people.other_tenant, people.stranger)
    assert clients.owner.post(address("member", people.tenant.slug, theirs.pk), {"remove": "1"}).status_code == 404
    assert roles(people.other_tenant) == {"stranger": "owner"}


def test_admins_see_members_but_no_forms(people: People, clients: Clients) -> None:
    page = clients.admin.get(address("members", people.tenant.slug)).content.decode()
    assert "member" in page
    assert "Invite somebody" not in page
