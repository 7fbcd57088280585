"""Without an engine memory goes on; a new one injects from the blobs of the former, but for those that broke."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from uuid import UUID

import pytest

from memory.store import BlobStore
from tests.stack.app import App, Reply
from tests.stack.by_hand import segments_in
from tests.stack.conftest import new_app
from tests.stack.stack import Stack

pytestmark = [pytest.mark.engine, pytest.mark.django_db(transaction=True)]
FACTS = ("Alice has a cat called Pepper.", "Alice lives in Lisbon.", "Alice plays the accordion.")
QUESTION = "What is the name of Alice's cat?"


@dataclass(frozen=True)
class Restart:
    app: App
    before: Reply
    made: dict[str, tuple[int, int]]
    broken: str
    found_meanwhile: list[set[str]]


@pytest.fixture(scope="module")
def restart(stack: Stack) -> Iterator[Restart]:
    """While the engine is away a fact is stored and deleted, and one of Carol's blobs breaks."""
    app, store = new_app(stack), BlobStore(stack.env.store_path)
    app.remember("alice", *FACTS)
    _, broken, _ = app.remember("carol", *FACTS)
    app.until_encoded("alice", "carol")
    before, made, key = app.ask("alice", QUESTION), made_of(app, store), app.encodings("carol")[UUID(broken)].key
    with stack.worker_paused():  # its audit would find the broken blob
        stack.stop_engine()
        flip_a_byte(store.path(key))
        found = []
        (new,) = app.remember("bob", "Bob has a dog called Biscuit.")
        found.append(set(app.search("dog", "bob").values()))
        app.forget(new)
        found.append(set(app.search("dog", "bob").values()))
        stack.start_engine()
        yield Restart(app, before, made, key, found)


def test_memory_goes_on_without_it(restart: Restart) -> None:
    assert restart.found_meanwhile == [{"Bob has a dog called Biscuit."}, set()]


def test_the_new_one_injects_what_the_former_encoded(restart: Restart, store: BlobStore) -> None:
    after = restart.app.ask("alice", QUESTION)
    assert after.prompt_ids == restart.before.prompt_ids
    assert (after.mode, after.injected) == ("inject", restart.before.injected)
    assert after.cached_tokens == after.injected
    assert after.text == restart.before.text
    assert "Pepper" in after.text
    assert made_of(restart.app, store) == restart.made


def test_a_broken_blob_is_dropped_and_its_fact_sent_as_text(restart: Restart, store: BlobStore) -> None:
    reply = restart.app.ask("carol", QUESTION)
    segments = segments_in(reply.prompt_ids, restart.app.encodings("carol"))
    sound = takewhile(lambda segment: segment.key != restart.broken, segments)
    assert reply.cached_tokens == sum(segment.tokens for segment in sound) < reply.injected
    assert reply.prompt_ids == restart.before.prompt_ids
    assert "Pepper" in reply.text
    assert not store.exists(restart.broken)


def flip_a_byte(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[-10] ^= 0xFF
    path.write_bytes(data)


def made_of(app: App, store: BlobStore) -> dict[str, tuple[int, int]]:
    """Attempts, and when the blob was written, by key."""
    made = app.encodings("alice").values()
    return {encoding.key: (encoding.attempts, store.path(encoding.key).stat().st_mtime_ns) for encoding in made}
