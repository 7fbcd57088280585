"""A chat reads the memory of whom it names, and of nobody whose name could be taken for it."""

from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings

from tests.api.hostile import REFUSED, entities
from tests.stack.app import App
from tests.stack.conftest import new_app
from tests.stack.stack import Stack

pytestmark = [pytest.mark.engine, pytest.mark.django_db(transaction=True)]
quiet = settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
ANIMALS = ("bees", "goats", "hens", "ducks")
Name = tuple[str, str]


def remembers(app: App, name: Name, animal: str) -> bool:
    kind, value = name
    messages = [{"role": "user", "content": f"They keep {animal}."}]
    body = {"messages": messages, f"{kind}_id": value, "infer": False}
    return app.memory_api("POST", "/v3/memories/add/", json=body).status_code == 200


@quiet
@given(names=entities)
@example(names=[("user", "alice"), ("agent", "alice"), ("app", "alice"), ("run", "alice")])
@example(names=[("user", "é"), ("user", "e\u0301"), ("user", "alice"), ("user", "alice ")])
def test_a_chat_reads_the_memory_of_whom_it_names(stack: Stack, tokenizer: Any, names: list[Name]) -> None:
    app, other_app = new_app(stack), new_app(stack)
    kept = {name: animal for name, animal in zip(names, ANIMALS, strict=False) if remembers(app, name, animal)}
    for (kind, value), animal in kept.items():
        memory = {f"{kind}_id": value}
        reply = app.chat("What do they keep?", memory=memory, max_tokens=1)
        assert (reply.response.status_code, reply.facts) == (200, 1), reply.response.text
        prompt = tokenizer.decode(reply.prompt_ids)
        assert [other for other in ANIMALS if other in prompt] == [animal]
        assert other_app.chat("What do they keep?", memory=memory, max_tokens=1).facts == 0


@pytest.mark.parametrize("name", [name for name in REFUSED if name != "*"], ids=lambda name: ascii(name)[:20])
def test_a_name_that_cannot_be_one_is_refused(app: App, name: str) -> None:
    reply = app.chat("What do they keep?", memory={"user_id": name}, max_tokens=1)
    assert (reply.response.status_code, reply.error["param"]) == (400, "memory.user_id")
