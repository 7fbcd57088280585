"""Staff see every tenant in the admin; owner, member and stranger of a tenant do not get in."""

import pytest
from django.contrib import admin
from django.contrib.auth.models import User
from django.db.models import Model
from django.test import Client
from django.urls import reverse
from facts.models import Encoding, Event, Fact, FactHistory, Feedback, Owner, Profile, Turn
from facts.profiles import profiles_ask
from facts.services import feedback_set
from jobs.models import Job, JobKind, JobPart
from jobs.services import NewPart, job_create
from tenants.models import ApiKey, AuditEntry, Membership, ProjectSettings, Quota, Tenant
from tenants.scope import every_tenant
from tenants.selectors import api_key_authenticate
from tenants.services import api_key_create, project_settings_update, quota_set
from usage.models import RequestRecord
from usage.services import RequestRecordData, request_records_write
from webhooks.models import Delivery, Webhook
from webhooks.services import webhook_create

from tests.factories import People, add_facts, encode_fact, people_create

MODELS = (
    *(Tenant, Membership, ApiKey, ProjectSettings, Quota, AuditEntry, User),
    *(Owner, Turn, Fact, FactHistory, Encoding, Event, Feedback, Profile),
    *(Webhook, Delivery, Job, JobPart, RequestRecord),
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def people() -> People:
    people = people_create()
    for tenant in (people.tenant, people.other_tenant):
        wanted = ["memory_add"]
        webhook_create(tenant=tenant, url="https://example.com/", name="hook", event_types=wanted, actor="test")
        (fact,) = add_facts(tenant, f"A fact of {tenant.name}.")
        encode_fact(fact)
        feedback_set(fact=fact, verdict="POSITIVE", reason="", actor="test")
        profiles_ask(tenant=tenant, user_ids=["alice"])
        project_settings_update(tenant=tenant, changes={"decay": True}, actor="test")
        quota_set(tenant=tenant, limits={"facts": 1000}, actor="test")
        job_create(tenant=tenant, kind=JobKind.IMPORT, options={}, actor="test", parts=[NewPart("{}\n", 1)], total=1)
        api_key_create(tenant=tenant, name=f"key of {tenant.name}")
        request_records_write([RequestRecordData(tenant_id=tenant.pk, mode="inject", status=200, owner_name="alice")])
    return people


@pytest.fixture
def staff() -> Client:
    client = Client()
    client.force_login(User.objects.create_superuser("staff"))
    return client


def page(model: type[Model], name: str = "changelist", *args: object) -> str:
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_{name}", args=args)


def test_every_model_of_ours_is_registered() -> None:
    assert all(admin.site.is_registered(model) for model in MODELS)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_list_search_and_detail_open_for_staff(people: People, staff: Client, model: type[Model]) -> None:
    assert staff.get(page(model)).status_code == 200
    if admin.site.get_model_admin(model).search_fields:
        assert staff.get(page(model), {"q": "alice"}).status_code == 200
    with every_tenant():
        pks = list(model._default_manager.values_list("pk", flat=True))
    assert pks
    for pk in pks:
        assert staff.get(page(model, "change", pk)).status_code == 200


def test_staff_see_facts_of_every_tenant(people: People, staff: Client) -> None:
    body = staff.get(page(Fact)).content.decode()
    assert "A fact of Home." in body
    assert "A fact of Elsewhere." in body


@pytest.mark.parametrize("who", ["owner", "member", "stranger"])
def test_people_of_tenants_are_sent_to_the_login(people: People, who: str) -> None:
    client = Client()
    client.force_login(getattr(people, who))
    answer = client.get(page(Fact))
    assert answer.status_code == 302
    assert "/admin/login/" in answer["Location"]


def test_a_key_made_here_is_shown_once_and_works(people: People, staff: Client) -> None:
    form = {"tenant": people.tenant.pk, "name": "made here", "scopes": ["read"], "user_field_enables_memory": "on"}
    body = staff.post(page(ApiKey, "add"), form, follow=True).content.decode()
    raw = "isk_" + body.split("not shown again: isk_")[1].split("<")[0].strip()
    api_key = api_key_authenticate(raw=raw)
    assert api_key is not None
    assert (api_key.name, api_key.tenant, api_key.scopes) == ("made here", people.tenant, ["read"])
    assert raw not in staff.get(page(ApiKey)).content.decode()
    assert raw not in staff.get(page(ApiKey, "change", api_key.pk)).content.decode()
    staff.post(page(ApiKey), {"action": "revoke", "_selected_action": [api_key.pk]})
    assert api_key_authenticate(raw=raw) is None
    with every_tenant():
        done = AuditEntry.objects.filter(target=api_key.pk).order_by("created_at").values_list("actor", "action")
        assert list(done) == [("user:staff", "key.create"), ("user:staff", "key.revoke")]
