"""Request records, written by a thread of their own."""

import logging
from queue import Empty, Full, Queue
from threading import Thread
from time import monotonic

from django.db import close_old_connections, connection
from usage.services import RequestRecordData, request_records_write

from inference.gateway.metrics import DROPPED_RECORDS

logger = logging.getLogger(__name__)
BATCH = 500
WAIT_SECONDS = 0.5


class RecordWriter:
    """`put` never waits: when the database cannot follow, records are dropped and counted."""

    def __init__(self, capacity: int = 10_000) -> None:
        self.dropped = 0
        self._queue: Queue[RequestRecordData | None] = Queue(capacity)
        self._thread = Thread(target=self._run, name="request-records", daemon=True)
        self._thread.start()

    def put(self, record: RequestRecordData) -> None:
        try:
            self._queue.put_nowait(record)
        except Full:
            self._drop(1)

    def close(self, timeout: float = 5.0) -> None:
        """Write what is left."""
        try:
            self._queue.put(None, timeout=timeout)
        except Full:
            logger.warning("request records are left unwritten at shutdown")
        self._thread.join(timeout)

    def _run(self) -> None:
        try:
            while self._write_batch():
                pass
        finally:
            connection.close()

    def _write_batch(self) -> bool:
        """False once closed and empty."""
        first = self._queue.get()
        batch = [first] if first else []
        deadline = monotonic() + WAIT_SECONDS
        is_open = first is not None
        while is_open and len(batch) < BATCH:
            try:
                record = self._queue.get(timeout=max(0.0, deadline - monotonic()))
            except Empty:
                break
            is_open = record is not None
            if record:
                batch.append(record)
        self._write(batch)
        return is_open

    def _write(self, batch: list[RequestRecordData]) -> None:
        if not batch:
            return
        close_old_connections()
        try:
            request_records_write(batch)
        except Exception:
            logger.exception("request records could not be written")
            self._drop(len(batch))

    def _drop(self, count: int) -> None:
        self.dropped += count
        DROPPED_RECORDS.inc(count)
        logger.warning("dropped %d request records so far", self.dropped)
