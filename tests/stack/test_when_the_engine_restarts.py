"""Without an engine memory goes on; with a new one it is injected from the same blobs."""

import pytest

from memory.store import BlobStore
from tests.stack.app import App
from tests.stack.stack import Stack

pytestmark = [pytest.mark.engine, pytest.mark.django_db(transaction=True)]
FACTS = ("Alice has a cat called Pepper.", "Alice lives in Lisbon.", "Alice plays the accordion.")
QUESTION = "What is the name of Alice's cat?"


def test_memory_goes_on_and_nothing_is_encoded_again(app: App, stack: Stack, store: BlobStore) -> None:
    app.remember("alice", *FACTS)
    app.until_encoded("alice")
    before, made = app.ask("alice", QUESTION), encodings_as_made(app, store)
    stack.stop_engine()
    (new,) = app.remember("bob", "Bob has a dog called Biscuit.")
    assert set(app.search("dog", "bob")) == {new}
    app.forget(new)
    assert app.search("dog", "bob") == {}
    stack.start_engine()
    after = app.ask("alice", QUESTION)
    assert after.prompt_ids == before.prompt_ids
    assert (after.mode, after.injected) == ("inject", before.injected)
    assert after.cached_tokens == after.injected
    assert after.text == before.text
    assert "Pepper" in after.text
    assert encodings_as_made(app, store) == made


def encodings_as_made(app: App, store: BlobStore) -> dict[str, tuple[int, int]]:
    """Attempts, and when the blob was written, by key."""
    made = app.encodings("alice").values()
    return {encoding.key: (encoding.attempts, store.path(encoding.key).stat().st_mtime_ns) for encoding in made}
