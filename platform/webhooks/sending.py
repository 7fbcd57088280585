"""One attempt to deliver one message."""

import json
import time
from dataclasses import dataclass
from typing import Any

import httpx

from webhooks.address import AddressRefused, resolve
from webhooks.signing import signed_headers

SECONDS_TO_WAIT = 10.0


@dataclass(frozen=True, slots=True)
class Attempt:
    """`status` is None when nobody answered, and `error` is '' when the message was taken."""

    status: int | None
    error: str


def send(*, url: str, secret: str, message_id: str, payload: dict[str, Any], private: bool) -> Attempt:
    """The same `message_id` at every attempt, so that the receiver knows a message it has had. Follows no redirect."""
    body = json.dumps(payload, ensure_ascii=False, separators=(",", ":")).encode()
    headers = signed_headers(secret=secret, message_id=message_id, timestamp=int(time.time()), body=body)
    try:
        target = resolve(url, private=private)
        headers |= {"Host": target.authority, "Content-Type": "application/json", "User-Agent": "InferScale-Webhooks"}
        with httpx.Client(timeout=SECONDS_TO_WAIT, trust_env=False, follow_redirects=False) as client:
            names = {"sni_hostname": target.host}
            with client.stream("POST", target.address, content=body, headers=headers, extensions=names) as response:
                status = response.status_code
    except AddressRefused as error:
        return Attempt(None, str(error))
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        return Attempt(None, f"{type(error).__name__}: {error}"[:500])
    return Attempt(status, "" if 200 <= status < 300 else f"answered {status}")
