"""A project's settings and members: read by every key, changed by an administrator's."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from tenants.models import Tenant
from tenants.services import membership_set

from tests.api.conftest import Caller


@pytest.fixture
def project(tenant: Tenant) -> str:
    return f"/api/v1/orgs/organizations/{tenant.pk}/projects/{tenant.pk}/"


def test_settings_change_where_they_are_named_and_stay_elsewhere(admin: Caller, member: Caller, project: str) -> None:
    assert member.get(project)[1]["custom_instructions"] == ""
    admin.patch(
        project, {"custom_instructions": "Only hobbies.", "custom_categories": ["hobby", {"job": "Their work"}]}
    )
    status, answer = admin.patch(project, {"decay": True, "usecase_setting": {"kind": "chat"}})
    assert (status, answer["decay"], answer["custom_instructions"]) == (200, True, "Only hobbies.")
    whole = member.get(project)[1]
    assert whole["custom_categories"] == ["hobby", {"job": "Their work"}]
    assert whole["usecase_setting"] == {"kind": "chat"}
    assert member.get(project, fields="decay")[1] == {"decay": True}
    assert member.get(project, fields="secret")[0] == 400


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"custom_instructions": 7},
        {"custom_instructions": "x" * 20_000},
        {"custom_categories": "hobby"},
        {"custom_categories": [7]},
        {"custom_categories": [{}]},
        {"multilingual": "yes"},
        {"usecase_setting": {"a": "\x00"}},
        {"usecase_setting": "x" * 70_000},
        {"instructions": "x"},
    ],
)
def test_bad_settings_are_400_and_change_nothing(admin: Caller, project: str, body: dict[str, Any]) -> None:
    before = admin.get(project)
    assert admin.patch(project, body)[0] == 400
    assert admin.get(project) == before


def test_only_an_administrator_changes_and_a_stranger_sees_nothing(
    owner: Caller, stranger: Caller, admin: Caller, project: str
) -> None:
    body = {"custom_instructions": "x"}
    assert owner.patch(project, body)[0] == 403
    assert owner.delete(project)[0] == 403
    assert owner.get(f"{project}members/")[0] == 403
    assert stranger.get(project)[0] == 404
    assert admin.get(project)[1]["custom_instructions"] == ""


def test_a_closed_project_answers_no_more(admin: Caller, owner: Caller, project: str) -> None:
    assert admin.delete(project)[0] == 200
    assert (admin.get(project)[0], owner.get("/v1/ping/")[0]) == (401, 401)


def test_the_last_owner_stays(admin: Caller, tenant: Tenant, project: str) -> None:
    members = f"{project}members/"
    for name in ("ann", "ben"):
        User.objects.create_user(name, f"{name}@example.com")
    membership_set(tenant=tenant, user=User.objects.get(username="ann"), role="owner")
    ann, ben = {"email": "ann@example.com"}, {"email": "BEN@example.com"}
    assert admin.put(members, {**ann, "role": "READER"})[0] == 409
    assert admin.delete(members, **ann)[0] == 409
    assert admin.put(members, {**ben, "role": "OWNER"})[0] == 404
    assert admin.post(members, {**ben, "role": "OWNER"})[0] == 200
    assert admin.delete(members, **ann)[0] == 200
    assert [member["email"] for member in admin.get(members)[1]["members"]] == ["ben@example.com"]
    assert admin.delete(members, **ann)[0] == 404
    assert admin.post(members, {"email": "nobody@example.com"})[0] == 404
    assert admin.post(members, {**ann, "role": "KING"})[0] == 400
