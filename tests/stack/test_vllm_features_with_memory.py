"""What vLLM can do, it can do with memory."""

import json
from typing import Any

import openai
import pytest

from tests.stack.app import SECONDS, App
from tests.stack.conftest import new_app
from tests.stack.stack import Stack

pytestmark = [pytest.mark.engine, pytest.mark.django_db(transaction=True)]
QUESTION = "What is the name of Alice's cat?"
SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string", "maxLength": 20}},
    "required": ["name"],
    "additionalProperties": False,
}
TOOL = {"type": "function", "function": {"name": "call_pet", "description": "Calls a pet", "parameters": SCHEMA}}


@pytest.fixture(scope="module")
def alice(stack: Stack) -> App:
    """Her facts are encoded."""
    app = new_app(stack)
    app.remember("alice", "Alice has a cat called Pepper.", "Alice lives in Lisbon.")
    app.until_encoded("alice")
    return app


def test_a_stream_with_log_probabilities(alice: App) -> None:
    client = openai.OpenAI(base_url=alice.chat_url, api_key=alice.key, timeout=SECONDS, max_retries=0)
    stream = client.chat.completions.create(
        model=alice.model,
        messages=[{"role": "user", "content": QUESTION}],
        user="alice",
        temperature=0,
        max_tokens=24,
        logprobs=True,
        stream=True,
    )
    choices = [chunk.choices[0] for chunk in stream]
    text = "".join(choice.delta.content or "" for choice in choices)
    scored = [token for choice in choices if choice.logprobs for token in choice.logprobs.content or ()]
    assert "Pepper" in text
    assert "".join(token.token for token in scored).startswith(text)
    assert all(token.logprob <= 0 for token in scored)


def test_several_answers(alice: App) -> None:
    reply = injected(alice, n=3, temperature=0.7, seed=1)
    choices = reply["choices"]
    assert [choice["index"] for choice in choices] == [0, 1, 2]
    assert all(choice["message"]["content"] for choice in choices)


def test_top_log_probabilities(alice: App) -> None:
    reply = injected(alice, logprobs=True, top_logprobs=2)
    content = reply["choices"][0]["logprobs"]["content"]
    assert len(content) == reply["usage"]["completion_tokens"]
    assert all(len(token["top_logprobs"]) == 2 for token in content)


def test_an_answer_that_follows_a_schema(alice: App) -> None:
    schema = {"type": "json_schema", "json_schema": {"name": "pet", "schema": SCHEMA, "strict": True}}
    reply = injected(alice, response_format=schema, max_tokens=60)
    assert set(json.loads(reply["choices"][0]["message"]["content"])) == {"name"}


def test_a_tool_call(alice: App) -> None:
    chosen = {"type": "function", "function": {"name": "call_pet"}}
    reply = injected(alice, tools=[TOOL], tool_choice=chosen, max_tokens=60)
    (call,) = reply["choices"][0]["message"]["tool_calls"]
    assert call["function"]["name"] == "call_pet"
    assert json.loads(call["function"]["arguments"])


def test_stop_strings(alice: App) -> None:
    reply = injected(alice, stop=["Pepper"])
    assert reply["choices"][0]["finish_reason"] == "stop"
    assert "Pepper" not in reply["choices"][0]["message"]["content"]


def injected(app: App, **body: Any) -> dict[str, Any]:
    reply = app.ask("alice", QUESTION, **body)
    assert (reply.mode, reply.facts) == ("inject", 2)
    assert reply.cached_tokens >= reply.injected
    return reply.body
