"""Answers that are sent in pieces."""

from typing import Any

from asgiref.sync import async_to_sync


def content_of(answer: Any) -> bytes:
    """All of it, read as ASGI reads it, with this thread's database connection."""

    async def read() -> bytes:
        return b"".join([part async for part in answer])

    return async_to_sync(read)()
