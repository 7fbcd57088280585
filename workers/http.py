"""What goes wrong over HTTP, in the words of those who ask an engine or a model."""

from collections.abc import Iterator
from contextlib import contextmanager

import httpx

from workers.port import EngineAway, EngineBroke, EngineDown


@contextmanager
def transport_errors(who: str, url: str) -> Iterator[None]:
    """Raises EngineAway, EngineDown and EngineBroke in place of httpx's own; `who` is asked at `url`."""
    try:
        yield
    except httpx.ConnectError as error:
        raise EngineAway(f"no {who} at {url}: {error}") from error
    except httpx.TimeoutException as error:
        raise EngineDown(f"the {who} does not answer in time: {type(error).__name__}") from error
    except httpx.TransportError as error:
        raise EngineBroke(f"the {who} broke off: {error}") from error


def reason_of(answer: httpx.Response) -> str:
    """Why a request was not answered, as an OpenAI-compatible API says it, or as it stands."""
    try:
        return str(answer.json()["error"]["message"])[:500]
    except (ValueError, KeyError, TypeError):
        return answer.text[:500]
