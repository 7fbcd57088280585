"""What vLLM can do, it can do with memory."""

import json
from typing import Any

import openai
import pytest
from openai.types.chat import ChatCompletion
from openai.types.shared_params import FunctionDefinition

from tests.stack.app import SECONDS, App
from tests.stack.conftest import new_app
from tests.stack.stack import Stack

pytestmark = [pytest.mark.engine, pytest.mark.django_db(transaction=True)]
QUESTION = "What is the name of Alice's cat?"
SCHEMA: dict[str, object] = {
    "type": "object",
    "properties": {"name": {"type": "string", "maxLength": 20}},
    "required": ["name"],
    "additionalProperties": False,
}
# Arguments of a function that is not strict may be any JSON, a string too, and as long as the model likes.
FUNCTION: FunctionDefinition = {
    "name": "call_pet",
    "description": "Calls a pet",
    "parameters": SCHEMA,
    "strict": True,
}


@pytest.fixture(scope="module")
def alice(stack: Stack) -> App:
    """Her facts are encoded."""
    app = new_app(stack)
    app.remember("alice", "Alice has a cat called Pepper.", "Alice lives in Lisbon.")
    app.until_encoded("alice")
    return app


@pytest.fixture(scope="module")
def client(alice: App) -> openai.OpenAI:
    return openai.OpenAI(base_url=alice.chat_url, api_key=alice.key, timeout=SECONDS, max_retries=0)


def test_a_stream_with_log_probabilities(alice: App, client: openai.OpenAI) -> None:
    stream = client.chat.completions.create(
        model=alice.model,
        messages=[{"role": "user", "content": QUESTION}],
        user="alice",
        temperature=0,
        max_tokens=24,
        logprobs=True,
        stream=True,
        stream_options={"include_usage": True},
    )
    chunks = list(stream)
    choices = [chunk.choices[0] for chunk in chunks if chunk.choices]
    text = "".join(choice.delta.content or "" for choice in choices)
    scored = [token for choice in choices if choice.logprobs for token in choice.logprobs.content or ()]
    assert "Pepper" in text
    assert "".join(token.token for token in scored).startswith(text)
    assert all(token.logprob <= 0 for token in scored)
    assert chunks[-1].usage is not None
    assert chunks[-1].usage.completion_tokens == len(scored)


def test_several_answers(alice: App, client: openai.OpenAI) -> None:
    choices = injected(alice, client, n=3, temperature=0.7, seed=1).choices
    assert [choice.index for choice in choices] == [0, 1, 2]
    assert all(choice.message.content for choice in choices)


def test_top_log_probabilities(alice: App, client: openai.OpenAI) -> None:
    answer = injected(alice, client, logprobs=True, top_logprobs=2)
    assert answer.usage is not None
    assert answer.choices[0].logprobs is not None
    content = answer.choices[0].logprobs.content or []
    assert len(content) == answer.usage.completion_tokens
    assert all(len(token.top_logprobs) == 2 for token in content)


def test_an_answer_that_follows_a_schema(alice: App, client: openai.OpenAI) -> None:
    schema = {"type": "json_schema", "json_schema": {"name": "pet", "schema": SCHEMA, "strict": True}}
    answer = injected(alice, client, response_format=schema, max_tokens=60)
    assert set(json.loads(answer.choices[0].message.content or "")) == {"name"}


def test_a_tool_call(alice: App, client: openai.OpenAI) -> None:
    chosen = {"type": "function", "function": {"name": "call_pet"}}
    tools = [{"type": "function", "function": FUNCTION}]
    answer = injected(alice, client, tools=tools, tool_choice=chosen, max_tokens=60)
    calls = answer.choices[0].message.tool_calls or []
    functions = [call.function for call in calls if call.type == "function"]
    assert [function.name for function in functions] == ["call_pet"]
    assert set(json.loads(functions[0].arguments)) == {"name"}


def test_a_streamed_tool_call(alice: App, client: openai.OpenAI) -> None:
    stream = client.chat.completions.create(
        model=alice.model,
        messages=[{"role": "user", "content": QUESTION}],
        user="alice",
        tools=[{"type": "function", "function": FUNCTION}],
        tool_choice={"type": "function", "function": {"name": "call_pet"}},
        max_tokens=60,
        temperature=0,
        stream=True,
    )
    calls = [call for chunk in stream for choice in chunk.choices for call in choice.delta.tool_calls or ()]
    functions = [call.function for call in calls if call.function]
    assert {function.name for function in functions if function.name} == {"call_pet"}
    assert set(json.loads("".join(function.arguments or "" for function in functions))) == {"name"}


def test_stop_strings(alice: App, client: openai.OpenAI) -> None:
    (choice,) = injected(alice, client, stop=["Pepper"]).choices
    assert choice.finish_reason == "stop"
    assert "Pepper" not in (choice.message.content or "")


def test_the_user_field_alone_where_the_keys_setting_says_so(alice: App) -> None:
    strict = App.of(alice.stack, alice.tenant, user_field_enables_memory=False)
    assert [app.chat(QUESTION, user="alice").facts for app in (alice, strict)] == [2, 0]
    assert strict.ask("alice", QUESTION).facts == 2


def injected(app: App, client: openai.OpenAI, **options: Any) -> ChatCompletion:
    """The client's answer, all of the user's facts injected into its prompt."""
    defaults = {"model": app.model, "max_tokens": 24, "temperature": 0, "user": "alice"}
    messages = [{"role": "user", "content": QUESTION}]
    raw = client.chat.completions.with_raw_response.create(**{**defaults, "messages": messages, **options})
    headers, answer = raw.headers, raw.parse()
    assert (headers["x-inferscale-mode"], headers["x-inferscale-facts"]) == ("inject", "2")
    assert isinstance(answer, ChatCompletion)
    assert answer.usage is not None
    assert answer.usage.prompt_tokens_details is not None
    assert (answer.usage.prompt_tokens_details.cached_tokens or 0) >= int(headers["x-inferscale-tokens-injected"])
    return answer
