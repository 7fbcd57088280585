"""One attempt to deliver one message."""

import asyncio
import json
import time
from concurrent.futures import Future
from dataclasses import dataclass
from threading import Thread
from typing import Any

import httpx

from webhooks.address import AddressRefused, Target, resolve
from webhooks.signing import signed_headers

SECONDS_TO_WAIT = 15.0  # in all, from the look-up of the name to the answer's status


@dataclass(frozen=True, slots=True)
class Attempt:
    """`status` is None when nobody answered, and `error` is '' when the message was taken."""

    status: int | None
    error: str


def send(*, url: str, secret: str, message_id: str, payload: dict[str, Any], private: bool) -> Attempt:
    """The same `message_id` at every attempt, so that the receiver knows a message it has had. Follows no redirect.

    Ends in time, whatever the receiver does.
    """
    body = json.dumps(payload, ensure_ascii=False, separators=(",", ":")).encode()
    headers = signed_headers(secret=secret, message_id=message_id, timestamp=int(time.time()), body=body)
    headers |= {"Content-Type": "application/json", "User-Agent": "InferScale-Webhooks"}
    try:
        status = asyncio.run(_post(url, body, headers, private=private))
    except TimeoutError:
        return Attempt(None, f"no answer within {SECONDS_TO_WAIT:g} s")
    except AddressRefused as error:
        return Attempt(None, str(error))
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        return Attempt(None, f"{type(error).__name__}: {_first_cause(error)}"[:500])
    return Attempt(status, "" if 200 <= status < 300 else f"answered {status}")


def _first_cause(error: BaseException) -> BaseException:
    """What the system said, where the libraries above it say less."""
    below = error.__cause__ or error.__context__
    return _first_cause(below) if below else error


async def _post(url: str, body: bytes, headers: dict[str, str], *, private: bool) -> int:
    """The answer's status; what comes behind it is not read. Raises TimeoutError.

    httpx's own timeouts begin anew with every byte.
    """
    async with asyncio.timeout(SECONDS_TO_WAIT):
        target = await _resolved(url, private=private)
        headers = {**headers, "Host": target.authority}
        names = {"sni_hostname": target.host}
        async with (
            httpx.AsyncClient(timeout=None, trust_env=False, follow_redirects=False) as client,
            client.stream("POST", target.address, content=body, headers=headers, extensions=names) as response,
        ):
            return response.status_code


async def _resolved(url: str, *, private: bool) -> Target:
    """In a thread of its own, left behind when time is up: only the resolver ends a look-up, and asyncio's own threads
    are waited for.
    """
    found = Future[Target]()
    found.set_running_or_notify_cancel()

    def look() -> None:
        try:
            found.set_result(resolve(url, private=private))
        except Exception as error:
            found.set_exception(error)

    Thread(target=look, name="look-up", daemon=True).start()
    return await asyncio.wrap_future(found)
