from dataclasses import dataclass

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from tenants.services import membership_set

from tests.factories import People


@dataclass(frozen=True)
class Clients:
    """Browsers of an owner, an admin and a viewer of the tenant, of another tenant's owner, of staff, of nobody."""

    owner: Client
    admin: Client
    viewer: Client
    stranger: Client
    staff: Client
    nobody: Client


@pytest.fixture
def clients(people: People) -> Clients:
    admin = User.objects.create_user("admin")
    membership_set(tenant=people.tenant, user=admin, role="admin")
    staff = User.objects.create_user("staff", is_staff=True)
    return Clients(
        owner=signed_in_as(people.owner),
        admin=signed_in_as(admin),
        viewer=signed_in_as(people.member),
        stranger=signed_in_as(people.stranger),
        staff=signed_in_as(staff),
        nobody=Client(),
    )


def signed_in_as(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def queries(client: Client, path: str) -> int:
    """That a page costs."""
    with CaptureQueriesContext(connection) as asked:
        assert client.get(path).status_code == 200
    return len(asked)
