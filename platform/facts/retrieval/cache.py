"""Snapshots of the owners who chatted last."""

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import Any

from facts.models import Owner
from facts.retrieval.snapshot import Snapshot
from facts.selectors import fact_delta, header_encoding
from memory.contracts import Segment

MAX_OWNERS = 4096
MAX_FACTS = 500_000  # about 2 KB each with a vector of 384 floats


class SnapshotCache:
    """Any thread may ask. Reads the database inside the owner's tenant scope, which the caller opens."""

    def __init__(self, *, dim_of: Callable[[str], int], fingerprint: str, line: Callable[[str], str]) -> None:
        """`dim_of` says how many floats a vector of an embedding model has."""
        self._dim_of, self._fingerprint, self._line = dim_of, fingerprint, line
        self._snapshots: OrderedDict[tuple[object, ...], Snapshot] = OrderedDict()
        self._lock = Lock()

    def current(self, owner: Owner, embedding_model: str, strategies: tuple[str, ...] = ()) -> Snapshot:
        """The owner's snapshot, at least as new as `owner`'s change sequence.

        With vectors of that model alone, and the KV of these strategies.
        """
        # Numbers come again in a database made anew.
        key = (owner.tenant_id, owner.pk, owner.created_at, embedding_model, strategies)
        dim = self._dim_of(embedding_model)
        with self._lock:
            snapshot = self._snapshots.setdefault(key, Snapshot(dim))
            self._snapshots.move_to_end(key)
        with snapshot.lock:
            if snapshot.seq < owner.change_seq:
                self._update(snapshot, owner, embedding_model, strategies)
                self._evict()
        return snapshot

    def clear(self) -> None:
        with self._lock:
            self._snapshots.clear()

    def _update(self, snapshot: Snapshot, owner: Owner, embedding_model: str, strategies: tuple[str, ...]) -> None:
        served: dict[str, Any] = {"owner_id": owner.pk, "fingerprint": self._fingerprint, "strategies": strategies}
        rows = fact_delta(after_seq=snapshot.seq, embedding_model=embedding_model, **served)
        found = header_encoding(**served) if strategies else None  # after the rows: it must not be older than they are
        header = Segment(found.key, found.tokens, found.digest) if found else None
        snapshot.apply(rows, seq=owner.change_seq, header=header, line=self._line)

    def _evict(self) -> None:
        with self._lock:
            facts = sum(map(len, self._snapshots.values()))
            while len(self._snapshots) > 1 and (len(self._snapshots) > MAX_OWNERS or facts > MAX_FACTS):
                _, oldest = self._snapshots.popitem(last=False)
                facts -= len(oldest)
