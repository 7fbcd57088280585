"""How long calls of the memory API take, and how soon what was added is found: over HTTP, calls taking turns."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from time import perf_counter
from typing import Any, Literal

import httpx

from inference.bench.errors import BenchError
from inference.bench.facts import bench_facts, bench_questions
from inference.bench.results import Row, rounded

Call = Literal["search", "filtered search", "add", "add to found"]
CALLS: tuple[Call, ...] = ("search", "filtered search", "add", "add to found")
Taken = dict[Call, list[float]]

USER = "memory-api"
CATEGORY = "even"
BATCH = 250
WARM_UP = 5
MOST_SEARCHES = 100
TIMEOUT = 600


@dataclass(frozen=True)
class MemoryApi:
    """One user's memory behind a key. Its methods raise httpx.HTTPError."""

    http: httpx.Client
    top_k: int

    @classmethod
    def at(cls, url: str, key: str, *, top_k: int) -> "MemoryApi":
        return cls(httpx.Client(base_url=url, headers={"Authorization": f"Token {key}"}, timeout=TIMEOUT), top_k)

    def add(self, texts: Sequence[str], **fields: Any) -> list[str]:
        """Ids of the memories."""
        messages = [{"role": "user", "content": text} for text in texts]
        body = {"messages": messages, "user_id": USER, "infer": False, **fields}
        return [result["id"] for result in self._post("/v3/memories/add/", body)["results"]]

    def search(self, query: str, **filters: Any) -> list[str]:
        """Ids of those found, best first."""
        body = {"query": query, "filters": {"user_id": USER, **filters}, "top_k": self.top_k}
        return [found["id"] for found in self._post("/v3/memories/search/", body)["results"]]

    def _post(self, path: str, body: Mapping[str, Any]) -> Any:
        return self.http.post(path, json=body).raise_for_status().json()


def fill(api: MemoryApi, facts: int) -> Iterator[int]:
    """The number of facts stored, after each batch; each second batch has the category."""
    for at in range(0, facts, BATCH):
        categories = [CATEGORY] if at // BATCH % 2 == 0 else []
        api.add(list(bench_facts(min(BATCH, facts - at), start=at)), categories=categories)
        yield min(at + BATCH, facts)


def measure_calls(api: MemoryApi, *, facts: int, rounds: int, seed: object) -> Iterator[Taken]:
    """Each round asks and adds something new; all times so far, in ms, after each.

    Raises BenchError when what was added is not found.
    """
    taken: Taken = {call: [] for call in CALLS}
    questions = islice(bench_questions(seed), WARM_UP + rounds)
    news = bench_facts(WARM_UP + rounds, start=facts)
    for turn, (question, new) in enumerate(zip(questions, news, strict=True), start=-WARM_UP):
        times = _round(api, question, new)
        if turn >= 0:
            for call, took in times.items():
                taken[call].append(took)
            yield taken


def memory_api_rows(taken: Taken, common: Row) -> list[Row]:
    return [
        {**common, "kind": "memory-api", "transport": "http", "mode": call, "samples_ms": rounded(samples)}
        for call, samples in taken.items()
    ]


def _round(api: MemoryApi, question: str, new: str) -> dict[Call, float]:
    started = perf_counter()
    api.search(question)
    searched = perf_counter()
    api.search(question, categories={"contains": CATEGORY})
    filtered = perf_counter()
    (memory_id,) = api.add([new])
    added = perf_counter()
    searches = 1
    while memory_id not in api.search(new):
        searches += 1
        if searches > MOST_SEARCHES:
            raise BenchError(f"a memory that was added is not found by its own text in {MOST_SEARCHES} searches")
    times = (searched - started, filtered - searched, added - filtered, perf_counter() - filtered)
    return {call: 1000 * took for call, took in zip(CALLS, times, strict=True)}
