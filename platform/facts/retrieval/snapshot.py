"""One owner's facts in memory, brought up to date by what changed."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from threading import RLock
from uuid import UUID

import numpy as np

from facts.scopes import Scopes
from facts.selectors import FactRow
from memory.contracts import Segment
from memory.retrieval import VectorIndex


@dataclass(frozen=True, slots=True)
class Entry:
    """A fact as the prompt needs it; `segment` when its KV is ready. `number` is its id in the vector index."""

    number: int
    fact_id: UUID
    line: str
    scopes: Scopes
    created_at: datetime
    expires_at: datetime | None
    segment: Segment | None
    embedded: bool

    @property
    def text(self) -> str:
        """The line without its mark."""
        return self.line.removeprefix("- ").rstrip("\n")


@dataclass
class Snapshot:
    """All facts up to the owner's change sequence `seq`. Hold `lock` around every use."""

    dim: int
    seq: int = -1
    header: Segment | None = None
    lock: RLock = field(default_factory=RLock)

    def __post_init__(self) -> None:
        self.index = VectorIndex(self.dim)
        self.entries: dict[int, Entry] = {}
        self.unembedded: set[int] = set()
        self.expiring: set[int] = set()
        self._numbers: dict[UUID, int] = {}
        self._next = 0

    def __len__(self) -> int:
        return len(self.entries)

    def number(self, fact_id: UUID) -> int | None:
        """The fact's number here; None while it is unknown."""
        return self._numbers.get(fact_id)

    def apply(self, rows: Iterable[FactRow], *, seq: int, header: Segment | None, line: Callable[[str], str]) -> None:
        """Take in rows changed after `self.seq`; `seq` is the sequence they were read at, or an earlier one."""
        ids, vectors = [], []
        for row in rows:
            seq = max(seq, row.seq)
            if not row.active:
                self._remove(row.id)
                continue
            entry = self._entry(row, line)
            self.entries[entry.number] = entry
            _mark(self.unembedded, entry.number, not entry.embedded)
            _mark(self.expiring, entry.number, entry.expires_at is not None)
            if entry.embedded:
                ids.append(entry.number)
                vectors.append(np.frombuffer(row.vector or b"", dtype="<f4"))
            else:
                self.index.remove([entry.number])
        if ids:
            self.index.upsert(ids, np.stack(vectors).astype(np.float32))
        self.seq, self.header = seq, header

    def _entry(self, row: FactRow, line: Callable[[str], str]) -> Entry:
        number = self._numbers.get(row.id)
        if number is None:
            number = self._numbers[row.id] = self._next
            self._next += 1
        segment = Segment(row.key, row.tokens, row.digest) if row.key and row.tokens and row.digest else None
        embedded = row.vector is not None and len(row.vector) == 4 * self.dim
        text = line(row.text)
        return Entry(number, row.id, text, row.scopes, row.created_at, row.expires_at, segment, embedded)

    def _remove(self, fact_id: UUID) -> None:
        number = self._numbers.pop(fact_id, None)
        if number is not None:
            del self.entries[number]
            self.unembedded.discard(number)
            self.expiring.discard(number)
            self.index.remove([number])


def _mark(numbers: set[int], number: int, wanted: bool) -> None:
    (numbers.add if wanted else numbers.discard)(number)
