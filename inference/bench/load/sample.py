"""What a client process reports. Times are `perf_counter` seconds, which all processes of a machine share."""

from dataclasses import dataclass, field


@dataclass
class Sample:
    """One request. `started`: when it was sent, or should have been in an open loop, so that waiting counts.

    `tokens`: when each piece of the answer came, the first one included. `ended` is None for what was cut off.
    """

    started: float
    first: float | None = None
    ended: float | None = None
    tokens: list[float] = field(default_factory=list)
    error: str = ""


@dataclass(frozen=True)
class ClientHealth:
    """Whether the client could keep up: share of a core used, and how late its event loop was."""

    cpu_share: float
    lag_ms: list[float]


@dataclass(frozen=True)
class ClientReport:
    samples: list[Sample]
    health: ClientHealth
