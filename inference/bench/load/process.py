"""A client process: its share of the users, one event loop."""

import asyncio
import random
from collections.abc import Coroutine, Iterator
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Event
from time import perf_counter, process_time

import aiohttp

from inference.bench.facts import bench_questions
from inference.bench.load.arrivals import poisson_arrivals
from inference.bench.load.client import ask
from inference.bench.load.plan import LoadPlan
from inference.bench.load.sample import ClientHealth, ClientReport, Sample

TICK_SECONDS = 0.02
ANSWER_SECONDS = 300


def client_main(plan: LoadPlan, go: Event, stop: Event, reports: Connection) -> None:
    """Says that it is ready, runs from `go` until `stop`, then sends a ClientReport."""
    reports.send("ready")
    go.wait()
    reports.send(asyncio.run(_Client(plan).run(stop)))


class _Client:
    def __init__(self, plan: LoadPlan) -> None:
        self.plan = plan
        self.samples: list[Sample] = []
        self.questions: Iterator[str] = bench_questions(plan.seed)
        self.rng = random.Random(plan.seed)

    async def run(self, stop: Event) -> ClientReport:
        """What is not answered when it stops is cut off, and reported as far as it came."""
        timeout = aiohttp.ClientTimeout(total=ANSWER_SECONDS)
        headers = {"Authorization": f"Bearer {self.plan.api_key}"}
        connector = aiohttp.TCPConnector(limit=0)
        started, used = perf_counter(), process_time()
        async with aiohttp.ClientSession(
            self.plan.url, headers=headers, connector=connector, timeout=timeout
        ) as session:
            tasks = [asyncio.create_task(work) for work in self._work(session)]
            lag_ms = await _wait(stop)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        share = (process_time() - used) / (perf_counter() - started)
        return ClientReport(self.samples, ClientHealth(share, lag_ms))

    def _work(self, session: aiohttp.ClientSession) -> list[Coroutine[None, None, None]]:
        if self.plan.rate is None:
            return [self._asks_again(session, user) for user in self.plan.users]
        return [self._arrivals(session, self.plan.rate)]

    async def _asks_again(self, session: aiohttp.ClientSession, user: str) -> None:
        while True:
            sample = self._sample(perf_counter())
            await ask(session, self.plan, user, next(self.questions), sample)
            if sample.error:
                await asyncio.sleep(TICK_SECONDS)  # a server that refuses at once is not flooded

    async def _arrivals(self, session: aiohttp.ClientSession, rate: float) -> None:
        started = perf_counter()
        async with asyncio.TaskGroup() as group:
            for at in poisson_arrivals(rate, self.rng):
                await asyncio.sleep(max(0.0, started + at - perf_counter()))
                sample, user = self._sample(started + at), self.rng.choice(self.plan.users)
                group.create_task(ask(session, self.plan, user, next(self.questions), sample))

    def _sample(self, started: float) -> Sample:
        sample = Sample(started)
        self.samples.append(sample)
        return sample


async def _wait(stop: Event) -> list[float]:
    """Until the event is set; how many milliseconds late each tick was."""
    late = []
    while not stop.is_set():
        due = perf_counter() + TICK_SECONDS
        await asyncio.sleep(TICK_SECONDS)
        late.append((perf_counter() - due) * 1000)
    return late
