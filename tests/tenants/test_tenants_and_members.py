import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from tenants.models import Membership, Tenant
from tenants.scope import tenant_scope
from tenants.selectors import tenant_by_id
from tenants.services import membership_set, tenant_create

from memory.encoding import strategy_names
from tests.factories import people_create

pytestmark = pytest.mark.django_db


def test_a_tenant_gets_a_slug_and_the_default_strategy() -> None:
    tenant = tenant_create(name=" Bee Keepers ")
    assert (tenant.name, tenant.slug, tenant.strategy) == ("Bee Keepers", "bee-keepers", settings.ENV.strategy)
    assert tenant_create(name="蜜蜂").slug.startswith("tenant-")
    assert tenant_create(name="Window", strategy="window(8)").strategy == "window(8)"


def test_a_slug_is_taken_once() -> None:
    tenant_create(name="Home")
    with pytest.raises(IntegrityError), transaction.atomic():
        tenant_create(name="Other", slug="home")


@pytest.mark.parametrize(
    "text",
    [
        "neighbours(16)", "nearest(8)", "window(16)", "turns(2)", "neighbours(16)+turns(5)+tail(3)", "turns(5)+tail(1)",
        "turns(5)+turns(2)", "nearest(8)+", "nearest(8)+window(2)", "tail(3)", "nearest(1000)", "nearest(8) ",
        "window(16)>nearest(16)", "window(8)+turns(2)>nearest(16)+turns(1)+tail(3)", "window(16)+tail(1)>nearest(16)",
        "window(16)>", ">nearest(16)", "window(1)>nearest(1)>nearest(2)",
    ],
)  # fmt: skip
def test_a_tenants_strategy_is_one_that_encoders_know(text: str) -> None:
    known = strategy_names(text) != (text,) and text == text.strip()
    if known:
        assert tenant_create(name=f"With {text}", strategy=text).strategy == text
    else:
        with pytest.raises(ValueError, match="strategy must be neighbours"):
            tenant_create(name="With another", strategy=text)


def test_bad_names_and_strategies_are_refused() -> None:
    with pytest.raises(ValueError, match="must contain text"):
        tenant_create(name="  ")
    with pytest.raises(ValueError, match="neighbours"):
        tenant_create(name="Home", strategy="everything")
    assert not Tenant.objects.exists()


def test_an_inactive_tenant_is_not_found_by_id() -> None:
    tenant = tenant_create(name="Home")
    assert tenant_by_id(tenant.pk) == tenant
    Tenant.objects.update(is_active=False)
    assert tenant_by_id(tenant.pk) is None


def test_a_person_has_one_role_in_a_tenant() -> None:
    people = people_create()
    membership_set(tenant=people.tenant, user=people.member, role="admin")
    with tenant_scope(people.tenant):
        roles = dict(Membership.objects.values_list("user__username", "role"))
    assert roles == {"owner": "owner", "member": "admin"}
    with tenant_scope(people.other_tenant):
        assert [membership.user for membership in Membership.objects.all()] == [people.stranger]


def test_an_unknown_role_is_refused() -> None:
    tenant = tenant_create(name="Home")
    with pytest.raises(ValueError, match="owner, admin, viewer"):
        membership_set(tenant=tenant, user=User.objects.create_user("someone"), role="king")
