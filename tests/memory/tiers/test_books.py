"""A tier's books and the rows they stand for stay one, however orders and reports cross."""

import numpy as np
import pytest
import torch
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from memory.layout import KVLayout, LayerShape
from memory.tiers.arena import Arena
from memory.tiers.books import Entry, TierBooks

CAPACITY = 24
LAYOUT = KVLayout((LayerShape(1, 2),), "float32")


def put(books: TierBooks, key: str, tokens: int, tenant: str = "t") -> Entry | None:
    entry = books.reserve(key, tenant=tenant, tokens=tokens, digest="d")
    if entry:
        books.filled(entry.order, 0)
    return entry


def test_the_least_recently_used_leaves_first() -> None:
    books = TierBooks(CAPACITY)
    first = put(books, "a", 10)
    put(books, "b", 10)
    assert first is not None
    books.touch([first])
    put(books, "c", 8)
    assert (books.get("a"), books.get("b")) == (first, None)
    assert books.take_counts().evicted == 1


def test_a_blob_larger_than_the_tier_finds_no_room_and_pushes_nothing_out() -> None:
    books = TierBooks(CAPACITY)
    put(books, "a", 4)
    assert put(books, "b", CAPACITY + 1) is None
    assert books.get("a") is not None


def test_pinned_blobs_stay_and_the_rest_stays_too_when_it_would_not_do() -> None:
    books = TierBooks(CAPACITY)
    pinned = put(books, "a", 14)
    put(books, "b", 6)
    assert pinned is not None
    books.pin(pinned)
    assert put(books, "c", 12) is None
    assert books.get("b") is not None
    books.unpin(pinned)
    assert put(books, "c", 12) is not None


def test_a_tenant_over_its_share_makes_room_among_its_own() -> None:
    books = TierBooks(CAPACITY, tenant_share=0.5)
    put(books, "other", 8, tenant="other")
    put(books, "a", 8)
    put(books, "b", 8)
    assert [books.get(key) is not None for key in ("other", "a", "b")] == [True, False, True]
    assert put(books, "c", 13) is None


def test_a_tenant_with_a_limit_has_what_exceeds_it_leave_the_oldest_first() -> None:
    books = TierBooks(CAPACITY)
    put(books, "other", 4, tenant="other")
    oldest, newer = put(books, "a", 5), put(books, "b", 5)
    assert oldest is not None
    assert newer is not None
    books.touch([oldest])
    books.limit({"t": 7})
    assert [books.get(key) is not None for key in ("other", "a", "b")] == [True, True, False]
    put(books, "c", 3)
    assert [books.get(key) is not None for key in ("other", "a", "c")] == [True, False, True]
    assert put(books, "d", 8) is None
    books.limit({})
    assert put(books, "d", 8) is not None
    books.check_integrity()


def test_what_is_in_use_beyond_a_new_limit_leaves_when_the_next_blob_comes() -> None:
    books = TierBooks(CAPACITY)
    pinned = put(books, "a", 10)
    assert pinned is not None
    books.pin(pinned)
    books.limit({"t": 6})
    assert books.get("a") is pinned
    books.unpin(pinned)
    assert put(books, "b", 2) is not None
    assert books.tenants() == {"t": 2}


def test_a_limit_of_nothing_keeps_nothing() -> None:
    books = TierBooks(CAPACITY)
    put(books, "a", 1)
    books.limit({"t": 0})
    assert (books.used_rows, put(books, "b", 1)) == (0, None)


def test_a_lost_blob_is_not_asked_for_until_it_is_encoded_again() -> None:
    books = TierBooks(CAPACITY)
    entry = books.reserve("a", tenant="t", tokens=1, digest="d")
    assert entry is not None
    books.lost(entry.order)
    assert books.is_lost("a")
    assert books.used_rows == 0
    put(books, "a", 1)
    assert not books.is_lost("a")


def test_rows_of_a_blob_dropped_while_it_is_filled_are_nobody_elses_before_the_report() -> None:
    books = TierBooks(CAPACITY)
    entry = books.reserve("a", tenant="t", tokens=CAPACITY, digest="d")
    assert entry is not None
    books.drop("a", erase=True)
    assert put(books, "b", 1) is None
    books.filled(entry.order, 0)
    assert books.get("a") is None
    assert sorted(books.take_erased()) == sorted(entry.rows)
    assert put(books, "b", 1) is not None


def test_a_share_outside_its_bounds_is_refused() -> None:
    with pytest.raises(ValueError, match="share"):
        TierBooks(CAPACITY, tenant_share=0.0)


KEYS = st.sampled_from("abcdef")


class BooksAndArena(RuleBasedStateMachine):
    """A worker fills rows some time after it was told to; readers hold pins meanwhile."""

    share = 1.0

    def __init__(self) -> None:
        super().__init__()
        self.books = TierBooks(CAPACITY, tenant_share=self.share)
        self.arena = Arena(LAYOUT, CAPACITY, torch.device("cpu"))
        self.wanted: list[tuple[Entry, float]] = []
        self.orders: list[tuple[Entry, float]] = []
        self.holds: dict[int, float] = {}
        self.pinned: list[Entry] = []
        self.stamp = 0.0

    def numbers(self, entry: Entry) -> torch.Tensor:
        return torch.from_numpy(entry.rows.astype(np.int64))

    @rule(key=KEYS, tenant=st.sampled_from("xy"), tokens=st.integers(1, 9))
    def reserves(self, key: str, tenant: str, tokens: int) -> None:
        entry = self.books.reserve(key, tenant=tenant, tokens=tokens, digest="d")
        if entry:
            self.stamp += 1
            self.wanted.append((entry, self.stamp))

    @rule()
    def sends_a_plan(self) -> None:
        """Erasing comes before filling."""
        self.arena.erase(torch.from_numpy(self.books.take_erased().astype(np.int64)))
        self.orders, self.wanted = [*self.orders, *self.wanted], []

    @precondition(lambda self: self.orders)
    @rule(data=st.data(), works=st.booleans())
    def worker_answers(self, data: st.DataObject, works: bool) -> None:
        entry, stamp = self.orders.pop(data.draw(st.integers(0, len(self.orders) - 1)))
        self.arena.write(self.numbers(entry), torch.full((entry.tokens, LAYOUT.row_width), stamp))
        order = entry.order
        if works:
            self.holds[id(entry)] = stamp
            self.books.filled(order, 3)
        else:
            self.books.lost(order)

    @rule(key=KEYS, erase=st.booleans())
    def drops(self, key: str, erase: bool) -> None:
        self.books.drop(key, erase=erase)

    @rule(limits=st.dictionaries(st.sampled_from("xy"), st.integers(0, CAPACITY)))
    def limits(self, limits: dict[str, int]) -> None:
        self.books.limit(limits)

    @rule(key=KEYS)
    def pins(self, key: str) -> None:
        if entry := self.books.get(key):
            self.books.touch([entry])
            self.books.pin(entry)
            self.pinned.append(entry)

    @precondition(lambda self: self.pinned)
    @rule()
    def unpins(self) -> None:
        self.books.unpin(self.pinned.pop(0))

    @invariant()
    def books_balance(self) -> None:
        self.books.check_integrity()

    @invariant()
    def what_is_there_or_pinned_is_what_was_filled(self) -> None:
        there = [entry for key in "abcdef" if (entry := self.books.get(key))]
        for entry in [*there, *self.pinned]:
            assert bool((self.arena.rows[self.numbers(entry)] == self.holds[id(entry)]).all())


class BooksWithShares(BooksAndArena):
    share = 0.6


TestBooksAndArena = BooksAndArena.TestCase
TestBooksWithShares = BooksWithShares.TestCase
TestBooksAndArena.settings = TestBooksWithShares.settings = settings(max_examples=200, deadline=None)
