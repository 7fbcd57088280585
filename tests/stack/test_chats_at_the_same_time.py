"""Many users at once: each answer is from its own user's facts, injected or not."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.stack.app import App, Reply
from tests.stack.stack import Stack

pytestmark = [pytest.mark.engine, pytest.mark.django_db(transaction=True)]
CATS = {"ann": "Pepper", "ben": "Ginger", "cleo": "Shadow", "dan": "Tiger", "eve": "Snowball", "finn": "Cookie"}
QUESTION = "What is the name of the cat?"


def test_each_gets_its_own_users_facts(app: App, other_app: App, stack: Stack, tokenizer: Any) -> None:
    """The last two users' facts are not encoded yet; the two tenants have users of the same names."""
    encoded, new = list(CATS)[:4], list(CATS)[4:]
    for caller in (app, other_app):
        for user in encoded:
            caller.remember(user, f"The name of the cat is {CATS[user]}.")
        caller.until_encoded(*encoded)
    callers = [(caller, user) for user in CATS for caller in (app, other_app)]
    with stack.worker_paused():
        for caller in (app, other_app):
            for user in new:
                caller.remember(user, f"The name of the cat is {CATS[user]}.")
        with ThreadPoolExecutor(len(callers)) as pool:
            replies = list(pool.map(lambda one: one[0].ask(one[1], QUESTION), callers))
    for (_, user), reply in zip(callers, replies, strict=True):
        assert (reply.mode, reply.facts) == ("inject" if user in encoded else "prompt", 1)
        assert cats_in(reply, tokenizer) == {CATS[user]}
        assert CATS[user] in reply.text
        assert reply.cached_tokens == reply.injected


def cats_in(reply: Reply, tokenizer: Any) -> set[str]:
    prompt = tokenizer.decode(reply.prompt_ids)
    return {cat for cat in CATS.values() if cat in prompt or cat in reply.text}
