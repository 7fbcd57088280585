"""A worker with an engine of its own writes the blobs that the serving engine would, and that one injects them."""

from typing import Any
from uuid import uuid4

import pytest
from django.conf import settings
from facts.models import Encoding, Fact
from tenants.scope import every_tenant
from tenants.services import tenant_create

from memory.contracts import EncodeParams
from memory.encoding import EncodingPlan
from memory.store import BlobStore
from tests.engine.harness import assert_same, wait_until_written
from tests.stack.app import App, stored
from tests.stack.stack import Stack
from tests.workers.helpers import line_of, plan_of
from tests.workers.running.processes import until

pytestmark = [pytest.mark.engine, pytest.mark.django_db(transaction=True)]
FACTS = ("Alice lives in Lisbon with her family.", "Alice has a cat called Pepper.", "Alice plays the accordion.")
QUESTION, EXPECTED = "What is the name of Alice's cat?", "Pepper"
ENCODED = "inferscale:encoded_spans_total"


@pytest.fixture
def window_app(stack: Stack) -> App:
    """Its facts share passes."""
    return App.of(stack, tenant_create(name="Home", slug=uuid4().hex, strategy="window(16)"))


def plans(app: App) -> list[tuple[Encoding, EncodingPlan]]:
    """Each fact's encoding and the request that the serving engine would have been sent for it."""
    with every_tenant():
        found = []
        for fact_id, encoding in app.encodings("alice").items():
            if fact_id is not None:
                context = [Fact.objects.get(pk=pk) for pk in encoding.context_fact_ids]
                plan = plan_of(Fact.objects.get(pk=fact_id), *context, strategy=encoding.strategy)
                found.append((encoding, plan))
        return found


def encode_in_the_serving_engine(app: App, plan: EncodingPlan) -> None:
    body: dict[str, Any] = {
        "model": app.model,
        "prompt": plan.token_ids,
        "max_tokens": 1,
        "cache_salt": uuid4().hex,
        "kv_transfer_params": EncodeParams(str(app.tenant.pk), (line_of(plan).span,)).to_params(),
    }
    headers = {"authorization": f"Bearer {settings.ENGINE_SERVICE_KEY}"}
    answer = app.engine_api("POST", "/v1/completions", json=body, headers=headers).raise_for_status().json()
    assert answer["kv_transfer_params"]["accepted"] == [line_of(plan).key]


def test_a_chat_injects_what_the_local_encoder_wrote(window_app: App, stack: Stack, store: BlobStore) -> None:
    before = stack.metric(ENCODED)
    window_app.remember("alice", *FACTS)
    window_app.until_encoded("alice")
    keys = window_app.keys("alice")
    assert len(stored(store, keys)) == len(FACTS) + 1
    reply = window_app.ask("alice", QUESTION)
    assert (reply.mode, reply.facts) == ("inject", 3)
    assert 0 < reply.injected <= reply.cached_tokens < reply.prompt_tokens
    assert EXPECTED in reply.text
    assert stack.metric(ENCODED) == before, "the serving engine has encoded nothing"


def test_its_blobs_are_the_serving_engines(window_app: App, store: BlobStore) -> None:
    window_app.remember("alice", *FACTS)
    window_app.until_encoded("alice")
    compared = plans(window_app)
    assert len(compared) == len(FACTS)
    for encoding, plan in compared:
        line = line_of(plan)
        assert (encoding.key, encoding.digest) == (line.key, line.digest)
        local = store.read(line.key)
        store.delete(line.key)
        encode_in_the_serving_engine(window_app, plan)
        wait_until_written(store, [line.key])
        served = store.read(line.key)
        assert local is not None
        assert served is not None
        assert local.info == served.info
        assert_same(local.rows, served.rows)


def test_a_deleted_facts_blob_leaves_the_store_and_the_serving_engine(app: App, store: BlobStore) -> None:
    ids = app.remember("alice", *FACTS)
    app.until_encoded("alice")
    former = {str(fact_id): encoding.key for fact_id, encoding in app.encodings("alice").items()}
    app.ask("alice", QUESTION)
    app.forget(ids[0])
    app.until_encoded("alice")
    assert not stored(store, {former[fact_id] for fact_id in ids})
    reply = app.ask("alice", QUESTION)
    assert (reply.mode, reply.facts) == ("inject", 2)
    assert EXPECTED in reply.text


def test_a_local_engine_that_dies_is_replaced(app: App, stack: Stack, store: BlobStore) -> None:
    stack.kill_local_engine()
    app.remember("alice", *FACTS)
    app.until_encoded("alice")
    assert len(stored(store, app.keys("alice"))) == len(FACTS) + 1


def test_nothing_is_left_of_a_local_engine_whose_worker_is_killed(stack: Stack) -> None:
    """The last test: nobody encodes after it."""
    core = stack.local_engine()
    processes = [core, *core.children(recursive=True)]
    stack.kill_encoder()
    until(lambda: not any(process.is_running() for process in processes), "all of it is gone", 30)
