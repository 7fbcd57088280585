from collections.abc import Iterator

import pytest
from facts import enqueue
from tenants.models import Tenant
from tenants.scope import tenant_scope

from tests.factories import People, people_create


@pytest.fixture
def people(db: None) -> People:
    return people_create()


@pytest.fixture
def tenant(people: People) -> Iterator[Tenant]:
    """The owner's and the member's; its scope is open during the test."""
    with tenant_scope(people.tenant):
        yield people.tenant


@pytest.fixture(autouse=True)
def broker_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever an earlier test found it to be."""
    monkeypatch.setattr(enqueue, "_paused_until", 0.0)
