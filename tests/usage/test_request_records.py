from datetime import timedelta

import pytest
from django.utils import timezone
from tenants.scope import tenant_scope
from usage.models import RequestRecord
from usage.selectors import request_records
from usage.services import RequestRecordData, request_records_write

from tests.factories import people_create

pytestmark = pytest.mark.django_db


def test_records_of_many_tenants_are_written_at_once_and_read_by_their_own_only() -> None:
    people = people_create()
    now = timezone.now()
    mine = RequestRecordData(
        tenant_id=people.tenant.pk,
        mode="inject",
        status=200,
        owner_name="alice",
        ttft_ms=57.5,
        total_ms=410.0,
        retrieval_ms=9.25,
        prompt_tokens=1700,
        tokens_injected_planned=1650,
        output_tokens=12,
        facts=50,
        model="demo",
        request_id="r1",
        created_at=now,
    )
    earlier = RequestRecordData(
        tenant_id=people.tenant.pk, mode="none", status=499, created_at=now - timedelta(hours=1)
    )
    theirs = RequestRecordData(tenant_id=people.other_tenant.pk, mode="prompt", status=200)
    assert request_records_write([mine, earlier, theirs]) == 3

    first, second = request_records(tenant=people.tenant)
    assert (first.owner_name, first.ttft_ms, first.facts, first.cached_tokens) == ("alice", 57.5, 50, None)
    assert (second.mode, second.status, second.ttft_ms) == ("none", 499, None)
    assert [record.mode for record in request_records(tenant=people.other_tenant)] == ["prompt"]
    assert request_records(tenant=people.tenant, since=now).get() == first
    assert request_records(tenant=people.tenant, owner_name="alice").get() == first


def test_writing_nothing_is_fine() -> None:
    assert request_records_write([]) == 0
    with tenant_scope(people_create().tenant):
        assert not RequestRecord.objects.exists()
