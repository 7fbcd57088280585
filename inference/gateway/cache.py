"""Snapshots of the owners who chatted last."""

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import Any

from facts.models import Owner
from facts.selectors import fact_delta, header_encoding

from inference.gateway.snapshot import Snapshot
from memory.contracts import Segment

MAX_OWNERS = 4096
MAX_FACTS = 500_000  # about 2 KB each with a vector of 384 floats


class SnapshotCache:
    """Any thread may ask. Reads the database inside the owner's tenant scope, which the caller opens."""

    def __init__(self, *, dim: int, fingerprint: str, line: Callable[[str], str]) -> None:
        self._dim, self._fingerprint, self._line = dim, fingerprint, line
        self._snapshots: OrderedDict[tuple[object, ...], Snapshot] = OrderedDict()
        self._lock = Lock()

    def current(self, owner: Owner, strategy: str) -> Snapshot:
        """The owner's snapshot, at least as new as `owner`'s change sequence."""
        key = (owner.tenant_id, owner.pk, owner.created_at, strategy)  # numbers come again in a database made anew
        with self._lock:
            snapshot = self._snapshots.setdefault(key, Snapshot(self._dim))
            self._snapshots.move_to_end(key)
        with snapshot.lock:
            if snapshot.seq < owner.change_seq:
                self._update(snapshot, owner, strategy)
                self._evict()
        return snapshot

    def clear(self) -> None:
        with self._lock:
            self._snapshots.clear()

    def _update(self, snapshot: Snapshot, owner: Owner, strategy: str) -> None:
        served: dict[str, Any] = {"owner_id": owner.pk, "fingerprint": self._fingerprint, "strategy": strategy}
        rows = fact_delta(after_seq=snapshot.seq, **served)
        found = header_encoding(**served)  # after the rows: it must not be older than they are
        header = Segment(found.key, found.tokens, found.digest) if found else None
        snapshot.apply(rows, seq=owner.change_seq, header=header, line=self._line)

    def _evict(self) -> None:
        with self._lock:
            facts = sum(map(len, self._snapshots.values()))
            while len(self._snapshots) > 1 and (len(self._snapshots) > MAX_OWNERS or facts > MAX_FACTS):
                _, oldest = self._snapshots.popitem(last=False)
                facts -= len(oldest)
