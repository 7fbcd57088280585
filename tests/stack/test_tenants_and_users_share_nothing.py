"""Equal facts of two users, and of two tenants, have nothing in common."""

from itertools import combinations

import pytest

from memory.store import BlobStore
from tests.stack.app import LONG, App, stored
from tests.stack.stack import Stack

pytestmark = [pytest.mark.engine, pytest.mark.django_db(transaction=True)]
FACTS = (
    "Pepper is the name of the cat.",
    "The cat likes to sleep in the sun.",
    "Nora lives here.",
)
QUESTION = "What is the name of the cat?"


def people(app: App, other_app: App) -> list[tuple[App, str]]:
    return [(app, "alice"), (app, "bob"), (other_app, "alice")]


def test_no_blob(app: App, other_app: App, store: BlobStore) -> None:
    for owner, user in people(app, other_app):
        owner.remember(user, *FACTS)
    app.until_encoded("alice", "bob")
    other_app.until_encoded("alice")
    keys = [owner.keys(user) for owner, user in people(app, other_app)]
    assert all(len(own) == len(FACTS) + 1 and stored(store, own) == own for own in keys)
    assert not any(one & other for one, other in combinations(keys, 2))


def test_no_block_of_the_prefix_cache(app: App, other_app: App, stack: Stack) -> None:
    with stack.worker_paused():
        for owner, user in people(app, other_app):
            owner.remember(user, *FACTS)
        for owner, user in people(app, other_app):
            first, again = owner.ask(user, LONG, mode="prompt"), owner.ask(user, LONG, mode="prompt")
            assert first.prompt_ids == again.prompt_ids
            assert (first.facts, first.cached_tokens) == (len(FACTS), 0)
            assert again.cached_tokens > 0


def test_no_block_beside_what_is_injected(app: App, other_app: App) -> None:
    for owner, user in people(app, other_app):
        owner.remember(user, *FACTS)
    for owner, user in people(app, other_app):
        owner.until_encoded(user)
        reply = owner.ask(user, LONG)
        assert reply.cached_tokens == reply.injected > 0


def test_no_result_of_a_search(app: App, other_app: App) -> None:
    ids = [set(owner.remember(user, *FACTS)) for owner, user in people(app, other_app)]
    found = [set(owner.search(QUESTION, user)) for owner, user in people(app, other_app)]
    assert found == ids
    assert not any(one & other for one, other in combinations(ids, 2))


def test_no_fact_in_a_chat(app: App, other_app: App) -> None:
    app.remember("alice", *FACTS)
    for owner, user in [(app, "bob"), (other_app, "alice")]:
        reply = owner.ask(user, QUESTION)
        assert (reply.mode, reply.facts) == ("none", 0)


@pytest.mark.parametrize(
    ("method", "path"), [("GET", ""), ("PUT", ""), ("DELETE", ""), ("GET", "history/")], ids=lambda value: value or "-"
)
def test_no_way_to_a_fact_by_its_id(app: App, other_app: App, method: str, path: str) -> None:
    (fact_id,) = app.remember("alice", "Pepper is the name of the cat.")
    answer = other_app.memory_api(method, f"/v1/memories/{fact_id}/{path}", json={"text": "Pepper is gone."})
    assert answer.status_code == 404
    assert list(app.search("cat", "alice").values()) == ["Pepper is the name of the cat."]
