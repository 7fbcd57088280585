"""A local engine that does not start is away, not broken: no fact fails for it."""

import pytest
from facts.models import Fact
from tenants.models import Tenant
from tenants.scope import tenant_scope

from inference.engine.local import LocalEngine
from memory.contracts import EncodeParams
from memory.store import BlobStore
from tests.factories import add_facts
from workers.blobs import Blobs
from workers.encoder import Encoder
from workers.engine import EngineClient
from workers.engines import Engines
from workers.local import LocalEncoder
from workers.model import encoding_model
from workers.port import EngineDown


class NoDevice(Exception):
    pass


def fails() -> LocalEngine:
    raise NoDevice("no memory left on the device")


def test_it_is_away_and_says_why() -> None:
    with pytest.raises(EngineDown, match="no memory left on the device"):
        LocalEncoder(fails).encode([1], EncodeParams("t", ()), cache_salt="s", affinity="")


def test_a_fact_waits_for_it(store: BlobStore, tenant: Tenant) -> None:
    (fact,) = add_facts(tenant, "Bob lives in Lisbon.")
    blobs = Blobs(store, Engines(EngineClient("http://127.0.0.1:9", "key", "model"), ["http://127.0.0.1:9"]))
    encoder = Encoder(encoding_model(), blobs, LocalEncoder(fails))
    with tenant_scope(tenant), pytest.raises(EngineDown):
        encoder.encode_fact(Fact.objects.select_related("tenant").get(pk=fact.pk))
    assert fact.encodings.get().state == "pending"
