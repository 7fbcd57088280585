"""Which of a chat's messages are new, and what names them."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from facts.scopes import Scopes
from facts.text import MAX_TEXT_BYTES

from inference.gateway.conversation import Conversation, conversation_of, new_texts

USER, ANSWER = {"role": "user", "content": "I keep bees."}, {"role": "assistant", "content": "How many?"}
CALL = {"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]}
RESULT = {"role": "tool", "content": "42", "tool_call_id": "1"}
MORE = {"role": "user", "content": "Two hives."}
PICTURE = {"type": "image_url", "image_url": {"url": "data:"}}


@pytest.mark.parametrize(
    ("messages", "texts"),
    [
        ([USER], ["I keep bees."]),
        ([{"role": "system", "content": "Be kind."}, USER, MORE], ["I keep bees.", "Two hives."]),
        ([USER, ANSWER, MORE], ["Two hives."]),
        ([USER, CALL, RESULT], ["I keep bees."]),
        ([USER, ANSWER, MORE, {**CALL, "content": "Let me see."}, RESULT, CALL, RESULT], ["Two hives."]),
        ([{"role": "user", "content": [PICTURE, {"type": "text", "text": "My hive."}]}], ["My hive."]),
        ([{"role": "user", "content": [PICTURE]}], []),
        ([USER, ANSWER], []),
        ([{"role": "user", "content": 7}, {"content": "nobody's"}], []),
    ],
)
def test_the_users_messages_since_the_last_answer_are_new(messages: list[dict[str, Any]], texts: list[str]) -> None:
    assert new_texts(messages) == texts


def conversation(*messages: dict[str, Any], name: str = "", user: str = "ann", key: int = 1) -> Conversation:
    found = conversation_of(
        messages,
        tenant_id=UUID(int=7),
        key_id=UUID(int=key),
        actor="key:isk_",
        scopes=Scopes(user_id=user),
        said_at=datetime.now(UTC),
        request_name=name,
    )
    assert found is not None
    return found


def test_a_request_sent_again_under_its_name_is_the_same_conversation() -> None:
    first = conversation(USER, name="r1").event_id
    assert conversation(USER, name="r1").event_id == first
    others = [
        conversation(MORE, name="r1"),
        conversation(USER, ANSWER, USER, name="r1"),
        conversation(USER, name="r2"),
        conversation(USER, name="r1", user="bob"),
        conversation(USER, name="r1", key=2),
        conversation(USER),
        conversation(USER),
    ]
    assert len({first, *(other.event_id for other in others)}) == 8


def test_long_texts_lose_nothing_and_fit() -> None:
    text = "\U0001f41d bees " * 5000
    said = conversation({"role": "user", "content": text}).answered("I see. " * 3000)
    assert "".join(part for role, part in said.turns if role == "user") == text
    assert all(0 < len(part.encode()) <= MAX_TEXT_BYTES for _, part in said.turns)
    assert {role for role, _ in said.turns} == {"user", "assistant"}
