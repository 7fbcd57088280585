"""How long the gateway's steps took, for the Server-Timing header of each answer (W3C's Server Timing)."""

from time import perf_counter


class Stages:
    """Milliseconds by step, in the order they were done; every step begins where the one before ended."""

    def __init__(self, started: float | None = None) -> None:
        """`started`: a `perf_counter` from when the first step counts (now)."""
        self._last = perf_counter() if started is None else started
        self.ms: dict[str, float] = {}

    def end(self, name: str) -> None:
        """The step since the last call was `name`."""
        now = perf_counter()
        self.ms[name] = self.ms.get(name, 0.0) + (now - self._last) * 1000
        self._last = now

    @property
    def header(self) -> str:
        return ", ".join(f"{name};dur={ms:.3f}" for name, ms in self.ms.items())


def read_stages(header: str) -> dict[str, float]:
    """Milliseconds by step from a Server-Timing header; metrics without a duration are left out."""
    found = {}
    for metric in header.split(","):
        name, *parameters = (part.strip() for part in metric.split(";"))
        durations = [value for key, _, value in (text.partition("=") for text in parameters) if key == "dur"]
        if name and durations:
            found[name] = float(durations[0])
    return found
