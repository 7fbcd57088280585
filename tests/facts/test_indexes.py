"""Facts are long rows with their vectors, 150 MB for 100,000: what sums them up or looks for few reads an index."""

from collections.abc import Callable

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from facts.selectors import categories_known, memory_figures
from tenants.models import Tenant

from inference.bench.pages_data import store_facts
from tests.factories import People

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def many(people: People) -> Tenant:
    """Its facts are so many that a scan of them all would cost more than an index."""
    assert list(store_facts(people.tenant, 1000, dimensions=384, model="demo"))[-1] == 1000
    with connection.cursor() as cursor:
        cursor.execute("VACUUM (ANALYZE)")
    return people.tenant


def scans_of(ask: Callable[[], object]) -> list[str]:
    """The scans in the plans of its queries, made from indexes where they can be.

    Left to itself, the planner prices an index-only scan by how many pages VACUUM could mark as visible to all: few,
    where another session's snapshot is as old as the rows.
    """
    with CaptureQueriesContext(connection) as asked:
        ask()
    scans = []
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off")
        for query in asked.captured_queries:
            cursor.execute(f"EXPLAIN {query['sql']}")
            scans += [line for (line,) in cursor.fetchall() if "Scan" in line]
    assert scans
    return scans


@pytest.mark.parametrize("everybody", [False, True], ids=["of a tenant", "of all"])
def test_facts_are_counted_without_reading_them(many: Tenant, everybody: bool) -> None:
    scans = scans_of(lambda: memory_figures(tenant=None if everybody else many))
    assert [scan for scan in scans if "Index Only Scan" not in scan] == []
    assert memory_figures(tenant=many).ready == 1000


def test_facts_without_a_category_are_not_read_for_the_known_ones(many: Tenant) -> None:
    (scan,) = scans_of(lambda: categories_known(tenant=many))
    assert "fact_with_category" in scan
