"""Texts that are asked for at the same time are embedded together."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from queue import Empty, SimpleQueue
from threading import Thread

from memory.retrieval.forward import Vectors


class BatchingQueue:
    """A thread that takes all texts waiting and embeds them once. It never waits for more to come."""

    def __init__(self, embed: Callable[[Sequence[str]], Vectors], *, most: int) -> None:
        """`embed` gives one row a text; `most`: texts taken at a time."""
        self._embed, self._most = embed, most
        self._waiting: SimpleQueue[tuple[str, Future[Vectors]]] = SimpleQueue()
        Thread(target=self._run, name="query-embedding", daemon=True).start()

    def submit(self, text: str) -> "Future[Vectors]":
        """The text's vector, float32 [dim], or what `embed` raised."""
        future: Future[Vectors] = Future()
        self._waiting.put((text, future))
        return future

    def _run(self) -> None:
        while True:
            texts, futures = zip(*self._take(), strict=True)
            try:
                vectors = self._embed(texts)
            except Exception as error:
                for future in futures:
                    future.set_exception(error)
            else:
                for future, vector in zip(futures, vectors, strict=True):
                    future.set_result(vector)

    def _take(self) -> list[tuple[str, "Future[Vectors]"]]:
        taken = [self._waiting.get()]
        while len(taken) < self._most:
            try:
                taken.append(self._waiting.get_nowait())
            except Empty:
                break
        return taken
