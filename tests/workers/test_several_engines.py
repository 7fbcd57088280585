"""What lies in memory is ordered of every engine; what any of them can do goes to the owner's own."""

import socket
from collections.abc import Iterator
from typing import Any

import pytest
from facts.models import Encoding, Fact
from facts.services import fact_delete
from tenants.affinity import owner_affinity
from tenants.models import Tenant
from usage.models import TierSample

from memory.store import BlobStore
from tests.factories import add_facts
from tests.workers.helpers import encode, encoding_into, encoding_of, finished
from tests.workers.test_the_tiers_are_sampled import CPU, page
from tests.workers.troubled_engine import TroubledEngine, free_port
from workers.engines import addresses
from workers.parts import blobs
from workers.port import EngineAway, EngineDown
from workers.tiering import drop_stale, follow_activity, sample_tiers

pytestmark = pytest.mark.django_db(transaction=True)
KEY = "ab" * 32


@pytest.fixture
def second(engine: TroubledEngine, settings: Any) -> Iterator[TroubledEngine]:
    """Beside the first, which is what requests for any of them reach."""
    with TroubledEngine() as second:
        settings.ENV = settings.ENV.model_copy(update={"engine_urls": [engine.url, second.url]})
        yield second


@pytest.fixture
def fact(store: BlobStore, engine: TroubledEngine, second: TroubledEngine, tenant: Tenant) -> Fact:
    """Encoded."""
    engine.encode = encoding_into(store)
    (fact,) = add_facts(tenant, "Alice lives in Lisbon.")
    assert encode(fact).state == "ready"
    return fact


def test_a_deleted_fact_leaves_all(engine: TroubledEngine, second: TroubledEngine, fact: Fact) -> None:
    key = encoding_of(fact).key
    fact_delete(fact=fact)
    finished(drop_stale, fact.tenant_id, fact.owner_id)
    assert engine.dropped == second.dropped == {key}
    assert not Encoding.objects.filter(state="stale").exists()


def test_an_engine_in_trouble_is_told_again_and_the_others_at_once(
    engine: TroubledEngine, second: TroubledEngine, fact: Fact
) -> None:
    key = encoding_of(fact).key
    engine.drop = lambda body: (503, {}) if len(engine.drops) < 3 else (200, {})
    fact_delete(fact=fact)
    with pytest.raises(EngineDown):
        blobs().forget([key])
    assert second.dropped == {key}
    finished(drop_stale, fact.tenant_id, fact.owner_id)
    assert len(engine.drops) == 3
    assert not Encoding.objects.filter(state="stale").exists()


def test_rows_stay_as_long_as_one_has_not_heard_it(engine: TroubledEngine, second: TroubledEngine, fact: Fact) -> None:
    second.drop = lambda body: (503, {})
    fact_delete(fact=fact)
    finished(drop_stale, fact.tenant_id, fact.owner_id)
    assert Encoding.objects.filter(state="stale").exists()


def test_one_that_does_not_run_holds_nothing(engine: TroubledEngine, settings: Any) -> None:
    away = f"http://127.0.0.1:{free_port()}"
    settings.ENV = settings.ENV.model_copy(update={"engine_urls": [away, engine.url]})
    blobs().engine.drop([KEY])
    assert engine.dropped == {KEY}
    settings.ENV = settings.ENV.model_copy(update={"engine_urls": [away, away]})
    with pytest.raises(EngineAway):
        blobs().engine.drop([KEY])


def test_one_that_cannot_be_reached_may_still_hold_it(engine: TroubledEngine, settings: Any) -> None:
    strange = "http://no-such-host.invalid:8000"
    settings.ENV = settings.ENV.model_copy(update={"engine_urls": [strange, engine.url]})
    with pytest.raises(EngineDown) as caught:
        blobs().engine.drop([KEY])
    assert not isinstance(caught.value, EngineAway)
    assert engine.dropped == {KEY}


def test_an_idle_owners_blobs_leave_all(engine: TroubledEngine, second: TroubledEngine) -> None:
    engine.near = second.near = {KEY: "tenant"}
    blobs().engine.move([KEY])
    assert engine.near == second.near == {}


def test_encoding_and_promotion_are_asked_of_the_owners_engine(
    engine: TroubledEngine, second: TroubledEngine, tenant: Tenant, fact: Fact
) -> None:
    finished(follow_activity)
    assert encoding_of(fact).key in engine.near
    assert (second.encodes, second.near) == ([], {})
    assert set(engine.affinities) == {owner_affinity(tenant_id=tenant.pk, kind="user", name="alice")}


def test_their_memories_are_sampled_together(engine: TroubledEngine, second: TroubledEngine) -> None:
    engine.page = second.page = page(CPU)
    finished(sample_tiers)
    sample = TierSample.objects.get(tier="host")
    assert (sample.bytes, sample.hits) == (128_000, 80)


def test_a_name_with_several_addresses_is_several_engines(monkeypatch: pytest.MonkeyPatch) -> None:
    known = {"engine": ["10.0.0.3", "10.0.0.2", "fd00::1"], "alone": ["10.0.0.9"]}

    def look_up(host: str, port: int, **_: Any) -> list[Any]:
        if host not in known:
            raise socket.gaierror
        return [(None, None, None, "", (address, port)) for address in known[host]]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    assert addresses("http://engine:8000") == [
        "http://10.0.0.2:8000",
        "http://10.0.0.3:8000",
        "http://[fd00::1]:8000",
    ]
    for url in ("http://alone:8000", "http://unknown:8000", "https://engine:8000"):
        assert addresses(url) == [url]


def test_what_lies_in_memory_is_asked_of_all(engine: TroubledEngine, second: TroubledEngine) -> None:
    engine.held, second.held = {"gpu": [KEY], "host": []}, {"gpu": ["cd" * 32]}
    assert blobs().engine.held() == {"gpu": [KEY, "cd" * 32], "host": []}
    second.tier = lambda body: (503, {})
    with pytest.raises(EngineDown):
        blobs().engine.held()
