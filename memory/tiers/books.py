"""The books of one tier: which blob lies in which rows, who may use them, what leaves first. Holds no tensors.

The scheduler half keeps them; workers only fill and read the rows they are told. Orders and reports cross on their way,
so every filling has a number of its own, and rows that are being filled are given to nobody else before the report.
"""

import time
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import count, islice

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.int32]

LOST_SECONDS = 30.0

_orders = count(1)


@dataclass(slots=True, eq=False)
class Entry:
    """A blob in a tier. `start`: position its keys are turned to, known once it is filled (`order` is then 0)."""

    key: str
    tenant: str
    tokens: int
    digest: str
    rows: Rows
    order: int
    start: int = 0
    pins: int = 0
    is_listed: bool = True
    must_erase: bool = False

    @property
    def is_ready(self) -> bool:
        return self.order == 0


@dataclass
class TierCounts:
    """Since the last `take_counts`."""

    hits: int = 0
    filled: int = 0
    evicted: int = 0
    lost: int = 0


@dataclass(slots=True)
class Tenant:
    rows: int = 0
    used: OrderedDict[str, None] = field(default_factory=OrderedDict)


class TierBooks:
    """`capacity` rows, at most `tenant_share` of them one tenant's, or fewer where it has a limit of its own.

    The least recently used leaves first, pinned never. A tenant that has all it may have makes room among its own
    blobs, so that it cannot push others out.
    """

    def __init__(self, capacity: int, tenant_share: float = 1.0) -> None:
        """Raises ValueError unless 0 < tenant_share <= 1."""
        if not 0 < tenant_share <= 1:
            raise ValueError(f"a tenant's share must lie between 0 and 1, not {tenant_share}")
        self.capacity = capacity
        self.tenant_rows = int(capacity * tenant_share)
        self._limits: dict[str, int] = {}
        self._has_shares = tenant_share < 1
        self.counts = TierCounts()
        self._free = np.arange(capacity, dtype=np.int32)
        self._free_count = capacity
        self._entries: OrderedDict[str, Entry] = OrderedDict()
        self._tenants: dict[str, Tenant] = {}
        self._filling: dict[int, Entry] = {}
        self._lost: dict[str, float] = {}
        self._erase: list[Rows] = []

    @property
    def used_rows(self) -> int:
        return self.capacity - self._free_count

    @property
    def is_filling(self) -> bool:
        """Whether rows are reserved whose report is still to come."""
        return bool(self._filling)

    @property
    def must_erase(self) -> bool:
        """Whether rows wait to be overwritten."""
        return bool(self._erase)

    def tenants(self) -> dict[str, int]:
        """Rows by tenant."""
        return {name: tenant.rows for name, tenant in self._tenants.items()}

    @property
    def blobs(self) -> int:
        """Those that are filled or being filled."""
        return len(self._entries)

    def keys(self, most: int) -> list[str]:
        """Of the blobs that are filled, the last used first."""
        ready = (key for key, entry in reversed(self._entries.items()) if entry.is_ready)
        return list(islice(ready, most))

    def limit(self, rows: Mapping[str, int]) -> None:
        """The limits of all tenants that have one. What exceeds one leaves at once, or once it is no longer pinned."""
        self._limits = {tenant: min(most, self.tenant_rows) for tenant, most in rows.items()}
        if self._limits and not self._has_shares:
            self._has_shares = True
            for key, entry in self._entries.items():  # until now no tenant's own order was kept
                self._tenants[entry.tenant].used.move_to_end(key)
        for tenant in self._limits:
            self._shrink(tenant)

    def get(self, key: str) -> Entry | None:
        """The blob, if it is filled."""
        entry = self._entries.get(key)
        return entry if entry is not None and entry.is_ready else None

    def is_expected(self, key: str) -> bool:
        return self.order_of(key) is not None

    def order_of(self, key: str) -> int | None:
        """Under which number the blob is being filled; None when it is not."""
        entry = self._entries.get(key)
        return entry.order if entry is not None and not entry.is_ready else None

    def touch(self, entries: Iterable[Entry]) -> None:
        """Record that blobs are used now."""
        for entry in entries:
            self.counts.hits += 1
            if entry.is_listed:
                self._entries.move_to_end(entry.key)
                if self._has_shares:
                    self._tenants[entry.tenant].used.move_to_end(entry.key)

    def reserve(self, key: str, *, tenant: str, tokens: int, digest: str) -> Entry | None:
        """Rows for a blob about to be filled under `entry.order`; None when pinned blobs leave too little room.

        Takes the place of an entry of the same key.
        """
        if tokens > self._most(tenant):
            return None
        self.drop(key)
        if not self._make_room(tenant, tokens):
            return None
        self._free_count -= tokens
        rows = self._free[self._free_count : self._free_count + tokens].copy()
        entry = Entry(key, tenant, tokens, digest, rows, next(_orders))
        self._entries[key] = entry
        self._filling[entry.order] = entry
        books = self._tenants.setdefault(tenant, Tenant())
        books.rows += tokens
        books.used[key] = None
        return entry

    def filled(self, order: int, start: int) -> None:
        """Report: the rows hold the blob, its keys turned to `start`."""
        entry = self._filling.pop(order, None)
        if entry is None:
            return
        entry.order, entry.start = 0, start
        if entry.is_listed:
            self._lost.pop(entry.key, None)
            self.counts.filled += 1
        self._settle(entry)

    def lost(self, order: int) -> None:
        """Report: the blob could not be had; it is not asked for again for a while."""
        entry = self._filling.pop(order, None)
        if entry is None:
            return
        entry.order = 0
        if entry.is_listed:
            self.counts.lost += 1
            self._lost[entry.key] = time.monotonic() + LOST_SECONDS
            self._unlist(entry)
        self._settle(entry)

    def is_lost(self, key: str) -> bool:
        until = self._lost.get(key)
        if until is not None and until < time.monotonic():
            del self._lost[key]
            return False
        return until is not None

    def drop(self, key: str, *, erase: bool = False) -> None:
        """Forget a blob; `erase`: and have its rows overwritten now, not when they are used again.

        Rows being filled are free after their report.
        """
        self._lost.pop(key, None)
        entry = self._entries.get(key)
        if entry is None:
            return
        entry.must_erase = erase
        self._unlist(entry)
        self._settle(entry)

    def pin(self, entry: Entry) -> None:
        entry.pins += 1

    def unpin(self, entry: Entry) -> None:
        entry.pins -= 1
        self._settle(entry)

    def take_erased(self) -> Rows:
        """Rows to overwrite before anything else is written, since the last call."""
        erased, self._erase = self._erase, []
        return np.concatenate(erased) if erased else np.empty(0, np.int32)

    def take_counts(self) -> TierCounts:
        counts, self.counts = self.counts, TierCounts()
        return counts

    def check_integrity(self) -> None:
        """Raises AssertionError: a row with two owners or none, a sum that is off, a quota exceeded."""
        listed = list(self._entries.values())
        unlisted = [entry for entry in self._filling.values() if not entry.is_listed]
        held = [row for entry in [*listed, *unlisted] for row in entry.rows.tolist()]
        free = self._free[: self._free_count].tolist()
        _require(len(set(held)) == len(held), "a row is held twice")
        _require(not set(held) & set(free), "a held row is free")
        # Rows of blobs that were dropped while pinned are known to their pins alone.
        _require(len(held) + len(free) <= self.capacity, "there are more rows than the capacity")
        for name, tenant in self._tenants.items():
            own = [entry for entry in listed if entry.tenant == name]
            _require(tenant.rows == sum(entry.tokens for entry in own), f"rows of tenant {name} are miscounted")
            keys = [entry.key for entry in own]
            same = list(tenant.used) == keys if self._has_shares else set(tenant.used) == set(keys)
            _require(same, f"blobs of tenant {name} differ")
            _require(tenant.rows <= self.tenant_rows, f"tenant {name} is over its share")

    def _most(self, tenant: str) -> int:
        return self._limits.get(tenant, self.tenant_rows)

    def _shrink(self, tenant: str) -> None:
        """As far as blobs in use allow; the rest leaves when the tenant's next blob comes."""
        books = self._tenants.get(tenant)
        for key in list(books.used) if books else ():
            if books and books.rows > self._most(tenant):
                self._evict([key], 1)

    def _make_room(self, tenant: str, tokens: int) -> bool:
        books = self._tenants.get(tenant)
        excess = (books.rows if books else 0) + tokens - self._most(tenant)
        if self._has_shares and books and excess > 0 and not self._evict(books.used, excess):
            return False
        missing = tokens - self._free_count
        return missing <= 0 or self._evict(self._entries, missing)

    def _evict(self, keys: Iterable[str], rows: int) -> bool:
        """The oldest of `keys` until `rows` rows are free; all or nothing."""
        victims = []
        for key in keys:
            if rows <= 0:
                break
            entry = self._entries[key]
            if entry.is_ready and entry.pins == 0:
                victims.append(entry)
                rows -= entry.tokens
        if rows > 0:
            return False
        for entry in victims:
            self._unlist(entry)
            self._settle(entry)
            self.counts.evicted += 1
        return True

    def _unlist(self, entry: Entry) -> None:
        entry.is_listed = False
        del self._entries[entry.key]
        tenant = self._tenants[entry.tenant]
        tenant.rows -= entry.tokens
        del tenant.used[entry.key]
        if not tenant.used:
            del self._tenants[entry.tenant]

    def _settle(self, entry: Entry) -> None:
        """Free the rows of a forgotten blob once nobody fills or reads them."""
        if entry.is_listed or not entry.is_ready or entry.pins:
            return
        self._free[self._free_count : self._free_count + entry.tokens] = entry.rows
        self._free_count += entry.tokens
        if entry.must_erase:
            self._erase.append(entry.rows)


def _require(holds: bool, problem: str) -> None:
    if not holds:
        raise AssertionError(f"tier books: {problem}")
