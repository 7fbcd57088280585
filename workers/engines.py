"""All engines: where several share the chats, what is in their memories is ordered of each of them."""

import socket
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

from usage.engine_metrics import EngineMetrics, parse_metrics

from memory.contracts import EncodeParams, MemoryLimit, Segment
from workers.engine import EngineClient
from workers.port import EngineAway, EngineBroke, EngineDown


@dataclass(frozen=True, slots=True)
class Engines:
    """`front` takes requests for any of them, each owner's always to the same one; `urls` lead to each of them.

    A host name with several addresses is as many engines. What goes to all is done when each has answered or does not
    run: the others are asked even if one is in trouble, and the caller asks again.
    """

    front: EngineClient
    urls: Sequence[str]

    def max_model_len(self) -> int:
        """Raises EngineDown."""
        return self.front.max_model_len()

    def encode(
        self, token_ids: Sequence[int], params: EncodeParams, *, cache_salt: str, affinity: str
    ) -> frozenset[str]:
        """By the owner's engine. Raises EngineDown, EngineBroke, EngineRefused."""
        return self.front.encode(token_ids, params, cache_salt=cache_salt, affinity=affinity)

    def promote(self, segments: Sequence[Segment], *, tenant: str, affinity: str) -> None:
        """In the owner's engine. Raises EngineDown, EngineBroke, EngineRefused."""
        self.front.promote(segments, tenant=tenant, affinity=affinity)

    def drop(self, keys: Sequence[str]) -> None:
        """In every engine. Raises EngineAway when none runs; EngineDown, EngineBroke, EngineRefused."""
        self._each(lambda engine: engine.drop(keys))

    def move(self, keys: Sequence[str], *, tier: Literal["host", "disk"] = "disk") -> None:
        """In every engine. Raises EngineAway when none runs; EngineDown, EngineBroke, EngineRefused."""
        self._each(lambda engine: engine.move(keys, tier=tier))

    def limit(self, limits: Sequence[MemoryLimit]) -> None:
        """In every engine, for each has memory of its own. Raises as `drop`."""
        self._each(lambda engine: engine.limit(limits))

    def held(self) -> dict[str, list[str]]:
        """Keys of the blobs in the memory of any, by tier; one that lies in several engines counts in each.

        Raises as `drop`.
        """
        found = defaultdict[str, list[str]](list)

        def ask(engine: EngineClient) -> None:
            for tier, keys in engine.held().items():
                found[tier] += keys

        self._each(ask)
        return dict(found)

    def metrics(self) -> EngineMetrics:
        """What their connectors reported last, summed. Raises EngineDown, EngineBroke, EngineRefused."""
        pages = [engine.metrics_page() for engine in self._all()]
        try:
            return parse_metrics("\n".join(pages))
        except ValueError as error:
            raise EngineDown("what answers is not the engine: no metrics") from error

    def _each(self, order: Callable[[EngineClient], None]) -> None:
        engines, away, troubles = self._all(), list[EngineAway](), list[Exception]()
        for engine in engines:
            try:
                order(engine)
            except EngineAway as error:  # its memory went with it
                away.append(error)
            except (EngineDown, EngineBroke) as error:
                troubles.append(error)
        if troubles:
            raise troubles[0]
        if len(away) == len(engines):
            raise away[0]

    def _all(self) -> list[EngineClient]:
        urls = [address for url in self.urls for address in addresses(url)]
        return [EngineClient(url, self.front.service_key, self.front.model) for url in urls]


def addresses(url: str) -> list[str]:
    """The URL with each address of its host; as it is where there is one, or none is known, or TLS needs the name."""
    parts = urlsplit(url)
    if parts.scheme != "http" or not parts.hostname:
        return [url]
    port = parts.port or 80
    try:
        found = socket.getaddrinfo(parts.hostname, port, type=socket.SOCK_STREAM)
    except OSError:
        return [url]
    hosts = sorted({str(address[0]) for *_, address in found})
    if len(hosts) < 2 or parts.hostname == "localhost":
        return [url]
    return [f"http://{f'[{host}]' if ':' in host else host}:{port}{parts.path}" for host in hosts]
