"""Client processes, from start to report."""

from collections.abc import Sequence
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any

from inference.bench.errors import BenchError
from inference.bench.load.plan import LoadPlan
from inference.bench.load.process import client_main
from inference.bench.load.sample import ClientHealth, ClientReport, Sample
from inference.bench.stats import percentiles

REPORT_SECONDS = 60
END_SECONDS = 10


class LoadRun:
    """`with LoadRun(plan, processes=4) as run`: the load lasts as long as the block, or until `stop`."""

    def __init__(self, plan: LoadPlan, *, processes: int) -> None:
        self.plan = plan
        context = get_context("spawn")  # a fork would take this process's threads and connections along
        self._go, self._stop = context.Event(), context.Event()
        self._clients: list[tuple[Any, Connection, Connection]] = []
        count = plan.processes(processes)
        for index in range(count):
            ours, theirs = context.Pipe(duplex=False)
            arguments = (plan.share(index, count), self._go, self._stop, theirs)
            process = context.Process(target=client_main, args=arguments, daemon=True)
            self._clients.append((process, ours, theirs))
        self.samples: list[Sample] = []
        self.health: list[ClientHealth] = []

    def __enter__(self) -> "LoadRun":
        """Returns when all clients are ready: importing is no part of what is measured."""
        for process, _, theirs in self._clients:
            process.start()
            theirs.close()  # so that a client's end is noticed
        for _, connection, _ in self._clients:
            self._receive(connection)
        self._go.set()
        return self

    def __exit__(self, *exception: object) -> None:
        self._go.set()
        self._stop.set()
        for process, *_ in self._clients:
            process.join(END_SECONDS)
            if process.is_alive():
                process.kill()

    def stop(self) -> list[Sample]:
        """All samples. Raises BenchError when a client process does not report."""
        self._stop.set()
        for _, connection, _ in self._clients:
            report: ClientReport = self._receive(connection)
            self.samples += report.samples
            self.health.append(report.health)
        return self.samples

    def _receive(self, connection: Connection) -> Any:
        if not connection.poll(REPORT_SECONDS):
            raise BenchError("a client process of the load does not report")
        try:
            return connection.recv()
        except EOFError as error:
            raise BenchError("a client process of the load ended early; its error is above") from error


def client_record(healths: Sequence[ClientHealth]) -> dict[str, Any]:
    """For the record: the busiest process's share of a core, and the event loops' lateness in ms."""
    late = percentiles([lag for health in healths for lag in health.lag_ms])
    return {"processes": len(healths), "cpu_share": round(max(h.cpu_share for h in healths), 3), "loop_lag_ms": late}
