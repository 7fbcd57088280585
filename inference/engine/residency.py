"""Which blobs lie where: the books of both arenas, and the loads that bring blobs up. Scheduler half."""

from collections import Counter
from collections.abc import Iterable, Sequence

from inference.engine.metadata import LoadPlan, Slot, WorkerReport
from memory.contracts import MemoryLimit, Segment
from memory.tiers.books import Entry, TierBooks


class Residency:
    """`near`: the arena beside the paged cache, which injection reads. `far`: pinned host memory behind a GPU's arena.

    Everything in an arena is on disk too, or on its way there, so that forgetting costs time, never data.
    """

    def __init__(self, near: TierBooks, far: TierBooks | None, world_size: int) -> None:
        self.near, self.far, self.world_size = near, far, world_size
        self.books = [near] if far is None else [near, far]
        self._loads: list[LoadPlan] = []
        self._sources: dict[int, Entry] = {}
        self._prefetches: set[int] = set()
        self._from_disk: set[int] = set()
        self._waiting: dict[int, tuple[int, int | None]] = {}
        self._counts: Counter[str] = Counter()

    def get(self, segment: Segment) -> Entry | None:
        """The segment's blob in the near arena; None when it is absent or of other tokens than the segment says."""
        entry = self.near.get(segment.key)
        return entry if entry is not None and _is_of(entry, segment) else None

    def count_lookups(self, segments: Sequence[Segment]) -> None:
        """Where a request's blobs lie when it comes, before anything is loaded for it."""
        missing = [segment for segment in segments if self.get(segment) is None]
        self._counts["near_lookups"] += len(segments)
        self._counts["near_found"] += len(segments) - len(missing)
        if self.far is not None:
            self._counts["far_lookups"] += len(missing)
            self._counts["far_found"] += sum(self.far.get(segment.key) is not None for segment in missing)

    def held(self, most: int) -> dict[str, list[str]]:
        """Keys by tier, the last used first."""
        names = ("host",) if self.far is None else ("gpu", "host")
        return {name: books.keys(most) for name, books in zip(names, self.books, strict=True)}

    def want(self, segment: Segment, tenant: str) -> bool:
        """Have a blob loaded into the near arena; whether it is on its way. Asking again is free."""
        key = segment.key
        if self.near.is_expected(key):
            return True
        if self.near.is_lost(key) or self.near.get(key) is not None:  # there, but of other tokens
            return False
        if self.far and self.far.is_expected(key):
            return True  # ask again: it will be a source
        entry = self.near.reserve(key, tenant=tenant, tokens=segment.tokens, digest=segment.digest)
        if entry is None:
            return False
        source = self.far.get(key) if self.far else None
        if self.far and source and _is_of(source, segment):
            self.far.pin(source)
            self.far.touch([source])
            self._sources[entry.order] = source
            self._load(segment, near=entry, source=source)
        else:
            self._load(segment, near=entry, far=self._reserve_far(segment, tenant))
        return True

    def comes_from_disk(self, segment: Segment) -> bool:
        """Whether a blob that is on its way has further to come than from host memory."""
        order = self.near.order_of(segment.key)
        if order is None and self.far is not None:
            return self.far.order_of(segment.key) in self._prefetches
        return order is not None and order not in self._sources

    def want_far(self, segment: Segment, tenant: str) -> None:
        """Have a blob loaded from disk into the far arena, if it lies in none."""
        if self.far is None:
            self.want(segment, tenant)
        elif not (self.far.get(segment.key) or self.far.is_lost(segment.key)):
            far = self._reserve_far(segment, tenant)
            if far is not None:
                self._prefetches.add(far.order)
                self._load(segment, far=far)

    def targets(self, segment: Segment, tenant: str) -> tuple[Slot | None, Slot | None]:
        """Rows of both arenas for a blob that is being encoded; None where it is already, or finds no room."""
        slots = list[Slot | None]()
        for books in (self.near, self.far):
            known = books.get(segment.key) if books else None
            if books is None or books.is_expected(segment.key) or (known and _is_of(known, segment)):
                slots.append(None)
            else:
                slots.append(Slot.of(books.reserve(segment.key, tenant=tenant, tokens=segment.tokens,
                                                   digest=segment.digest)))  # fmt: skip
        return slots[0], slots[1]

    def demote(self, keys: Iterable[str], *, to_disk: bool) -> None:
        """What leaves is overwritten: should it be deleted later, no memory that nobody knows of holds it."""
        for key in keys:
            if self.far is not None or to_disk:
                self.near.drop(key, erase=True)
            if self.far is not None and to_disk:
                self.far.drop(key, erase=True)

    def limit(self, limits: Iterable[MemoryLimit], row_bytes: int) -> None:
        """How much of each arena these tenants may have; all others what their share is."""
        near, far = dict[str, int](), dict[str, int]()
        for limit in limits:
            near_bytes = limit.host_bytes if self.far is None else limit.gpu_bytes
            if near_bytes is not None:
                near[limit.tenant] = near_bytes // row_bytes
            if limit.host_bytes is not None:
                far[limit.tenant] = limit.host_bytes // row_bytes
        self.near.limit(near)
        if self.far is not None:
            self.far.limit(far)

    def erase(self, keys: Iterable[str]) -> None:
        for key in keys:
            for books in self.books:
                books.drop(key, erase=True)

    def take_loads(self) -> tuple[LoadPlan, ...]:
        loads, self._loads = tuple(self._loads), []
        return loads

    def on_report(self, report: WorkerReport) -> None:
        """An order counts once every rank has answered: filled if all could, else lost."""
        for order, ranks in report.ranks.items():
            before, start = self._waiting.pop(order, (0, 0))
            start = None if order in report.lost or start is None else report.filled[order]
            if before + ranks < self.world_size:
                self._waiting[order] = (before + ranks, start)
            else:
                self._settle(order, start)

    @property
    def is_settled(self) -> bool:
        """Whether nothing is ordered that the workers have not answered, and nothing is left to overwrite."""
        return not self._loads and not any(books.is_filling or books.must_erase for books in self.books)

    def check_integrity(self) -> None:
        for books in self.books:
            books.check_integrity()

    def counts(self) -> Counter[str]:
        """What the books counted since the last call, by statistic."""
        found, self._counts = self._counts, Counter()
        for name, books in (("near", self.near), ("far", self.far)):
            if books is not None:
                counts = books.take_counts()
                found[f"{name}_hits"] += counts.hits
                found[f"{name}_filled"] += counts.filled
                found[f"{name}_evicted"] += counts.evicted
                found["lost_blobs"] += counts.lost
        return found

    def _settle(self, order: int, start: int | None) -> None:
        self._prefetches.discard(order)
        if (source := self._sources.pop(order, None)) and self.far:
            self.far.unpin(source)
        if order in self._from_disk:
            self._from_disk.discard(order)
            self._counts["disk_hits"] += start is not None
        for books in self.books:
            if start is None:
                books.lost(order)
            else:
                books.filled(order, start)

    def _reserve_far(self, segment: Segment, tenant: str) -> Entry | None:
        if self.far is None or self.far.is_expected(segment.key):
            return None
        return self.far.reserve(segment.key, tenant=tenant, tokens=segment.tokens, digest=segment.digest)

    def _load(
        self, segment: Segment, *, near: Entry | None = None, far: Entry | None = None, source: Entry | None = None
    ) -> None:
        rows, start = (source.rows, source.start) if source else (None, 0)
        plan = LoadPlan(segment.key, segment.tokens, segment.digest, Slot.of(near), Slot.of(far), rows, start)
        self._loads.append(plan)
        if source is None and (slot := plan.near or plan.far):
            self._from_disk.add(slot.order)


def _is_of(entry: Entry, segment: Segment) -> bool:
    return entry.tokens == segment.tokens and entry.digest == segment.digest
