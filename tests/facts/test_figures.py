"""How much memory there is, in numbers."""

from datetime import timedelta

from django.utils import timezone
from facts.models import Encoding, EncodingState, Fact
from facts.scopes import Scopes
from facts.selectors import memory_figures
from facts.services import encoding_mark_failed, encoding_start, fact_delete
from tenants.models import Tenant

from tests.factories import FINGERPRINT, STRATEGY, People, add_facts, encode_fact


def test_facts_are_counted_by_how_far_their_encoding_is(tenant: Tenant) -> None:
    one, two, three, gone, expired = add_facts(
        tenant, "Likes tea.", "Keeps bees.", "Lives in Bonn.", "Runs.", "Skis until spring."
    )
    add_facts(tenant, "Paints.", "Plays chess.", scopes=Scopes(user_id="bob"))
    encode_fact(one)
    encode_fact(three)
    failed = encoding_start(fact_or_owner=two, fingerprint=FINGERPRINT, strategy=STRATEGY)
    encoding_mark_failed(encoding=failed, error="too long")
    fact_delete(fact=gone)
    Fact.objects.filter(pk=expired.pk).update(expires_at=timezone.now() - timedelta(days=1))
    seen = memory_figures(tenant=tenant)
    assert (seen.facts, seen.owners) == (5, 2)
    assert (seen.ready, seen.failed, seen.waiting, seen.bytes) == (2, 1, 2, 2 * 4096)


def test_a_headers_bytes_count_and_it_is_no_fact(tenant: Tenant) -> None:
    (fact,) = add_facts(tenant, "Likes tea.")
    encode_fact(fact)
    header = encoding_start(fact_or_owner=fact.owner, fingerprint=FINGERPRINT, strategy=STRATEGY)
    Encoding.objects.filter(pk=header.pk).update(state=EncodingState.READY, bytes=100)
    seen = memory_figures(tenant=tenant)
    assert (seen.facts, seen.ready, seen.bytes) == (1, 1, 4196)


def test_what_is_stale_counts_no_more(tenant: Tenant) -> None:
    (fact,) = add_facts(tenant, "Likes tea.")
    Encoding.objects.filter(pk=encode_fact(fact).pk).update(state=EncodingState.STALE)
    seen = memory_figures(tenant=tenant)
    assert (seen.ready, seen.failed, seen.waiting, seen.bytes) == (0, 0, 1, 0)


def test_all_tenants_together(people: People) -> None:
    for tenant in (people.tenant, people.other_tenant):
        add_facts(tenant, "Likes tea.")
    seen = memory_figures(tenant=None)
    assert (seen.facts, seen.owners, seen.waiting) == (2, 2, 2)
    assert memory_figures(tenant=people.tenant).facts == 1


def test_nothing_yet(people: People) -> None:
    seen = memory_figures(tenant=people.tenant)
    assert (seen.facts, seen.owners, seen.ready, seen.bytes, seen.ready_share) == (0, 0, 0, 0, None)
