"""Records are written by their own thread; a full queue drops them and says so."""

import pytest
from tenants.models import Tenant
from tenants.scope import every_tenant
from tenants.services import tenant_create
from usage.models import RequestRecord
from usage.services import RequestRecordData

from inference.gateway.records import RecordWriter


def record_of(tenant: Tenant, **fields: object) -> RequestRecordData:
    return RequestRecordData(**{"tenant_id": tenant.pk, "mode": "none", "status": 200, **fields})  # type: ignore[arg-type]


@pytest.mark.django_db(transaction=True)
def test_all_are_there_after_close() -> None:
    tenant, writer = tenant_create(name="Home"), RecordWriter()
    for _ in range(1234):
        writer.put(record_of(tenant))
    writer.close()
    with every_tenant():
        assert RequestRecord.objects.count() == 1234


@pytest.mark.django_db(transaction=True)
def test_a_batch_that_cannot_be_written_is_counted_and_later_ones_are_written() -> None:
    tenant, writer = tenant_create(name="Home"), RecordWriter()
    writer._write([record_of(tenant, mode="far too long")])
    writer.put(record_of(tenant))
    writer.close()
    with every_tenant():
        assert (writer.dropped, RequestRecord.objects.count()) == (1, 1)


def test_a_full_queue_never_waits() -> None:
    tenant = Tenant(name="Home")
    writer = RecordWriter(capacity=1)
    writer.close()
    for _ in range(5):
        writer.put(record_of(tenant))
    assert writer.dropped == 4
