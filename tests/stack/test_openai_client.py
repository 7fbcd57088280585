"""The OpenAI client, its base URL and key changed, uses what was stored through the memory API."""

import openai
import pytest

from tests.stack.app import SECONDS, App

pytestmark = [pytest.mark.engine, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def client(app: App) -> openai.OpenAI:
    return openai.OpenAI(base_url=app.chat_url, api_key=app.key, timeout=SECONDS, max_retries=0)


def test_a_streamed_answer_uses_a_stored_fact(app: App, client: openai.OpenAI) -> None:
    app.remember("alice", "Alice has a cat called Pepper.", "Alice works as a nurse in Dublin.")
    stream = client.chat.completions.create(
        model=app.model,
        messages=[{"role": "user", "content": "What is the name of Alice's cat?"}],
        user="alice",
        temperature=0,
        max_tokens=24,
        stream=True,
    )
    assert "Pepper" in "".join(chunk.choices[0].delta.content or "" for chunk in stream)


def test_memory_is_named_in_extra_body(app: App, client: openai.OpenAI) -> None:
    app.remember("alice", "Alice has a cat called Pepper.")
    answer = client.chat.completions.create(
        model=app.model,
        messages=[{"role": "user", "content": "What is the name of Alice's cat?"}],
        temperature=0,
        max_tokens=24,
        extra_body={"memory": {"user_id": "alice"}},
    )
    assert "Pepper" in (answer.choices[0].message.content or "")


def test_a_wrong_key_is_the_clients_own_error(app: App) -> None:
    client = openai.OpenAI(base_url=app.chat_url, api_key="isk_wrong", max_retries=0)
    with pytest.raises(openai.AuthenticationError, match="unknown, revoked or expired"):
        client.models.list()
