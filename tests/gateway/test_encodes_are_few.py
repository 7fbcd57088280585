"""At most so many encode requests are in the engine at a time; others of the service are not held up."""

import asyncio
import json

from django.conf import settings

from inference.gateway.http import Message, Receive, Scope, Send
from inference.gateway.middleware import Gateway


def most_at_once(op: str, requests: int) -> int:
    running, most = 0, 0

    async def slow(scope: Scope, receive: Receive, send: Send) -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.02)
        running -= 1
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"{}"})

    async def one(gateway: Gateway) -> None:
        body = json.dumps({"kv_transfer_params": {"op": op}}).encode()
        key = f"Bearer {settings.ENGINE_SERVICE_KEY}".encode()
        scope = {"type": "http", "method": "POST", "path": "/v1/completions", "headers": [(b"authorization", key)]}

        async def receive() -> Message:
            return {"type": "http.request", "body": body}

        async def send(message: Message) -> None:
            pass

        await gateway(scope, receive, send)

    async def many() -> None:
        gateway = Gateway(slow)
        await asyncio.gather(*(one(gateway) for _ in range(requests)))

    asyncio.run(many())
    return most


def test_encodes_are_capped() -> None:
    assert most_at_once("encode", 8) == settings.ENV.encode_max_in_flight


def test_drops_are_not() -> None:
    assert most_at_once("drop", 8) == 8
