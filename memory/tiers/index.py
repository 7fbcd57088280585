"""What is resident in a tier and what must leave it. Owned by the scheduler half; holds no tensors."""

import time
from collections import OrderedDict
from dataclasses import dataclass

LOST_SECONDS = 30.0


@dataclass(frozen=True)
class Resident:
    tokens: int
    digest: str
    nbytes: int


class TierIndex:
    """Least recently used first; never over `quota_bytes`. Lost keys are not asked for again for a while.

    Orders to the worker and its reports cross on their way, so every order carries a ticket, and a report counts only
    while its ticket is the one expected: after a drop it is not, and the drop order is on its way.
    """

    def __init__(self, quota_bytes: int) -> None:
        self.quota_bytes = quota_bytes
        self.nbytes = 0
        self._residents: OrderedDict[str, Resident] = OrderedDict()
        self._expected: dict[str, int] = {}
        self._lost: dict[str, float] = {}
        self._dropped: list[str] = []

    def __len__(self) -> int:
        return len(self._residents)

    def get(self, key: str) -> Resident | None:
        return self._residents.get(key)

    def touch(self, key: str) -> None:
        self._residents.move_to_end(key)

    def expect(self, key: str, ticket: int) -> None:
        """Record that the worker is told to make a blob resident."""
        self._expected[key] = ticket

    def is_expected(self, key: str) -> bool:
        return key in self._expected

    def admit(self, key: str, resident: Resident, ticket: int) -> None:
        """Record a blob that became resident; evicts what no longer fits, the blob itself if it never can."""
        if self._expected.get(key) != ticket:
            return
        del self._expected[key]
        self._forget(key)
        self._lost.pop(key, None)
        self._residents[key] = resident
        self.nbytes += resident.nbytes
        while self.nbytes > self.quota_bytes:
            self.drop(next(iter(self._residents)))

    def drop(self, key: str) -> None:
        """Take a blob out, and have the worker halves do the same."""
        self._forget(key)
        self._expected.pop(key, None)
        self._dropped.append(key)

    def lose(self, key: str, ticket: int) -> None:
        """Record that a blob could not be loaded."""
        if self._expected.get(key) != ticket:
            return
        del self._expected[key]
        self._lost[key] = time.monotonic() + LOST_SECONDS

    def is_lost(self, key: str) -> bool:
        until = self._lost.get(key)
        if until is not None and until < time.monotonic():
            del self._lost[key]
            return False
        return until is not None

    def take_dropped(self) -> tuple[str, ...]:
        """Keys dropped since the last call."""
        dropped, self._dropped = tuple(self._dropped), []
        return dropped

    def check_integrity(self) -> None:
        if self.nbytes != sum(resident.nbytes for resident in self._residents.values()):
            raise AssertionError("tier index: byte count differs from its entries")
        if self.nbytes > self.quota_bytes:
            raise AssertionError("tier index: over quota")

    def _forget(self, key: str) -> None:
        if resident := self._residents.pop(key, None):
            self.nbytes -= resident.nbytes
