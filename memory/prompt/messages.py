"""Chat messages as clients send them: plain dicts in OpenAI's form."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Message = dict[str, Any]


def content_text(content: object) -> str | None:
    """The text of a message, its parts joined as vLLM joins them; None when some of it is not text."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return None
    texts = [_part_text(part) for part in content]
    return None if None in texts else "\n".join(text for text in texts if text is not None)


def _part_text(part: object) -> str | None:
    if isinstance(part, str):
        return part
    if isinstance(part, Mapping) and part.get("type") in (None, "text", "input_text", "output_text", "refusal"):
        text = part.get("text", part.get("refusal"))
        return text if isinstance(text, str) else None
    return None


def last_user_index(messages: Sequence[Mapping[str, Any]]) -> int | None:
    """Of the message that asks; None without one."""
    return next((i for i in reversed(range(len(messages))) if messages[i].get("role") == "user"), None)


def last_user_text(messages: Sequence[Mapping[str, Any]]) -> str:
    """What is asked: the text of the last user message, "" without one."""
    index = last_user_index(messages)
    return "" if index is None else content_text(messages[index].get("content")) or ""


def is_text_only(messages: Iterable[Mapping[str, Any]]) -> bool:
    return all(content_text(message.get("content")) is not None for message in messages)


def split_system(messages: Sequence[Message], *, knows_developer: bool) -> tuple[list[str], list[Message]]:
    """Texts of the application's leading system messages, and the other messages.

    A template without the developer role gets developer messages as system text, and then all system text at the
    front: the same that vLLM would make of them.
    """
    system_roles = {"system"} if knows_developer else {"system", "developer"}
    gather_all = not knows_developer and any(message.get("role") == "developer" for message in messages)
    texts: list[str] = []
    rest: list[Message] = []
    for message in messages:
        text = content_text(message.get("content"))
        if message.get("role") in system_roles and text is not None and (gather_all or not rest):
            texts += [text] if text else []
        else:
            rest.append(message)
    return texts, rest
