"""The tier index and the host tier it stands for stay one, whatever happens."""

import torch
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from memory.blob import Blob
from memory.tiers.host import HostTier
from memory.tiers.index import Resident, TierIndex

QUOTA = 700
KEYS = st.sampled_from("abc")


def blob_of(key: str, tokens: int) -> Blob:
    return Blob(key, torch.zeros(tokens, 10, dtype=torch.float32), 0, "d", "l", "f")


def admit(index: TierIndex, key: str, nbytes: int) -> None:
    index.expect(key, 1)
    index.admit(key, Resident(1, "d", nbytes), 1)


def test_the_least_recently_used_leaves_first() -> None:
    index = TierIndex(QUOTA)
    for key in ("a", "b", "c"):
        admit(index, key, 300 if key != "c" else 100)
    index.touch("a")
    admit(index, "d", 200)
    assert index.take_dropped() == ("b",)
    assert index.get("a") is not None


def test_a_blob_larger_than_the_tier_does_not_stay() -> None:
    index = TierIndex(QUOTA)
    admit(index, "a", QUOTA + 1)
    assert index.get("a") is None
    assert index.nbytes == 0


def test_a_lost_blob_is_welcome_once_it_is_encoded_again() -> None:
    index = TierIndex(QUOTA)
    index.expect("a", 1)
    index.lose("a", 1)
    assert index.is_lost("a")
    admit(index, "a", 10)
    assert not index.is_lost("a")


def test_a_blob_dropped_before_it_arrives_does_not_count() -> None:
    index = TierIndex(QUOTA)
    index.expect("a", 1)
    index.drop("a")
    index.expect("a", 2)
    index.admit("a", Resident(1, "d", 10), 1)
    assert index.get("a") is None
    index.admit("a", Resident(1, "d", 10), 2)
    assert index.get("a") is not None


class SchedulerAndWorker(RuleBasedStateMachine):
    """Plans and reports are under way for a while, as with asynchronous scheduling."""

    def __init__(self) -> None:
        super().__init__()
        self.index, self.host = TierIndex(QUOTA), HostTier()
        self.wanted: dict[str, int] = {}
        self.ticket = 0
        self.plans: list[tuple[int, tuple[str, ...], dict[str, int]]] = []
        self.reports: list[tuple[int, dict[str, int]]] = []

    @rule(key=KEYS, tokens=st.integers(1, 12))
    def wants(self, key: str, tokens: int) -> None:
        self.wanted[key] = tokens

    @rule(key=KEYS)
    def uses(self, key: str) -> None:
        if self.index.get(key):
            self.index.touch(key)

    @rule(key=KEYS)
    def drops(self, key: str) -> None:
        self.wanted.pop(key, None)
        self.index.drop(key)

    @rule()
    def sends_a_plan(self) -> None:
        self.ticket += 1
        for key in self.wanted:
            self.index.expect(key, self.ticket)
        self.plans.append((self.ticket, self.index.take_dropped(), self.wanted))
        self.wanted = {}

    @precondition(lambda self: self.plans)
    @rule()
    def worker_executes(self) -> None:
        ticket, dropped, wanted = self.plans.pop(0)
        for key in dropped:
            self.host.drop(key)
        for key, tokens in wanted.items():
            self.host.put(blob_of(key, tokens))
        self.reports.append((ticket, wanted))

    @precondition(lambda self: self.reports)
    @rule()
    def report_arrives(self) -> None:
        ticket, held = self.reports.pop(0)
        for key, tokens in held.items():
            self.index.admit(key, Resident(tokens, "d", blob_of(key, tokens).nbytes), ticket)

    @invariant()
    def books_balance(self) -> None:
        self.index.check_integrity()
        self.host.check_integrity()

    @invariant()
    def what_is_promised_now_is_held_when_its_plan_is_executed(self) -> None:
        dropped_on_the_way = {key for _, dropped, _ in self.plans for key in dropped}
        for key in "abc":
            if self.index.get(key):
                assert self.host.get(key).key == key
                assert key not in dropped_on_the_way


TestSchedulerAndWorker = SchedulerAndWorker.TestCase
TestSchedulerAndWorker.settings = settings(max_examples=300)
