"""What goes wrong over HTTP, in the words of those who ask an engine or a model."""

from collections.abc import Iterator
from contextlib import contextmanager

import httpx

from workers.port import EngineAway, EngineBroke, EngineDown

AFFINITY_HEADER = "x-inferscale-affinity"  # requests with the same one go to the same engine, where there are several


@contextmanager
def transport_errors(who: str, url: str) -> Iterator[None]:
    """Raises EngineAway, EngineDown and EngineBroke in place of httpx's own; `who` is asked at `url`."""
    try:
        yield
    except httpx.ConnectError as error:
        kind = EngineAway if _is_refused(error) else EngineDown
        raise kind(f"no {who} at {url}: {error}") from error
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


def _is_refused(error: BaseException | None) -> bool:
    """Its machine says that nothing listens. A name or a network that fails says nothing of what runs behind it."""
    while error is not None and not isinstance(error, ConnectionRefusedError):
        error = error.__cause__ or error.__context__
    return error is not None
