"""Which tier a blob comes from, and what the books say once the workers answered."""

import pytest

from inference.engine.metadata import LoadPlan, Slot, WorkerReport
from inference.engine.residency import Residency
from memory.contracts import MemoryLimit, Segment
from memory.tiers.books import TierBooks

ONE, OTHER = Segment("a" * 64, 4, "1" * 32), Segment("b" * 64, 6, "2" * 32)
BOTH_RANKS = 2


def answer(residency: Residency, *slots: Slot | None, start: int | None = 5, ranks: int = BOTH_RANKS) -> None:
    """What `ranks` workers report for these slots; `start` None: they could not."""
    for _ in range(ranks):
        report = WorkerReport()
        for slot in slots:
            report.add(slot, start)
        residency.on_report(report)


@pytest.fixture
def residency() -> Residency:
    return Residency(TierBooks(10), TierBooks(10), BOTH_RANKS)


@pytest.fixture
def cpu() -> Residency:
    return Residency(TierBooks(10), None, BOTH_RANKS)


def load(residency: Residency, segment: Segment) -> LoadPlan:
    assert residency.want(segment, "t")
    (plan,) = residency.take_loads()
    return plan


def test_a_blob_in_no_tier_is_read_from_disk_into_both(residency: Residency) -> None:
    plan = load(residency, ONE)
    assert plan.source is None
    answer(residency, plan.far, plan.near)
    entry = residency.get(ONE)
    assert entry is not None
    assert (entry.start, entry.tokens) == (5, ONE.tokens)
    assert residency.far is not None
    assert residency.far.get(ONE.key) is not None


def test_asking_again_while_it_is_on_its_way_orders_nothing(residency: Residency) -> None:
    load(residency, ONE)
    assert residency.want(ONE, "t")
    assert residency.take_loads() == ()


def test_it_is_there_only_once_every_rank_has_it(residency: Residency) -> None:
    plan = load(residency, ONE)
    answer(residency, plan.near, ranks=1)
    assert residency.get(ONE) is None
    answer(residency, plan.near, ranks=1)
    assert residency.get(ONE) is not None


def test_a_rank_that_cannot_load_it_makes_it_lost_for_all(residency: Residency) -> None:
    plan = load(residency, ONE)
    answer(residency, plan.near, plan.far, start=None, ranks=1)
    answer(residency, plan.near, plan.far, ranks=1)
    assert residency.get(ONE) is None
    assert not residency.want(ONE, "t")
    residency.check_integrity()
    assert residency.near.used_rows == 0


def test_a_blob_that_left_the_gpu_comes_back_from_host_memory(residency: Residency) -> None:
    first = load(residency, ONE)
    answer(residency, first.far, first.near)
    residency.demote([ONE.key], to_disk=False)
    assert residency.get(ONE) is None
    again = load(residency, ONE)
    assert first.far is not None
    assert again.source is not None
    assert list(again.source) == list(first.far.rows)
    assert again.start == 5


def test_host_rows_are_nobody_elses_while_they_are_copied_up(residency: Residency) -> None:
    first = load(residency, ONE)
    answer(residency, first.far, first.near)
    residency.demote([ONE.key], to_disk=False)
    again = load(residency, ONE)
    assert residency.far is not None
    residency.far.drop(ONE.key)
    assert residency.far.reserve("c" * 64, tenant="t", tokens=8, digest="3") is None
    answer(residency, again.near)
    assert residency.far.reserve("c" * 64, tenant="t", tokens=8, digest="3") is not None


def test_what_went_to_disk_is_read_from_disk(residency: Residency) -> None:
    first = load(residency, ONE)
    answer(residency, first.far, first.near)
    residency.demote([ONE.key], to_disk=False)
    load(residency, ONE)
    assert not residency.comes_from_disk(ONE)
    residency.demote([ONE.key], to_disk=True)
    assert load(residency, ONE).source is None
    assert residency.comes_from_disk(ONE)


def test_an_encoded_blob_waits_for_its_host_copy_before_it_is_brought_back(residency: Residency) -> None:
    near, far = residency.targets(ONE, "t")
    answer(residency, near)
    residency.demote([ONE.key], to_disk=False)
    assert residency.want(ONE, "t")
    assert residency.take_loads() == ()
    answer(residency, far)
    assert load(residency, ONE).source is not None


def test_a_blob_of_other_tokens_under_the_key_is_not_given(residency: Residency) -> None:
    plan = load(residency, ONE)
    answer(residency, plan.near)
    assert residency.get(ONE._replace(digest="9" * 32)) is None
    assert not residency.want(ONE._replace(digest="9" * 32), "t")


def test_an_erased_blob_is_in_no_tier_and_its_rows_are_overwritten(residency: Residency) -> None:
    plan = load(residency, ONE)
    answer(residency, plan.far, plan.near)
    residency.erase([ONE.key])
    assert plan.near is not None
    assert plan.far is not None
    assert residency.far is not None
    assert sorted(residency.near.take_erased()) == sorted(plan.near.rows)
    assert sorted(residency.far.take_erased()) == sorted(plan.far.rows)


def test_prefetching_into_host_memory_leaves_the_gpu_alone(residency: Residency) -> None:
    residency.want_far(ONE, "t")
    (plan,) = residency.take_loads()
    assert plan.near is None
    answer(residency, plan.far)
    assert residency.near.used_rows == 0
    assert load(residency, ONE).source is not None


def test_without_a_gpu_host_memory_is_nearest_and_demoting_to_it_changes_nothing(cpu: Residency) -> None:
    plan = load(cpu, ONE)
    assert plan.far is None
    answer(cpu, plan.near)
    cpu.demote([ONE.key], to_disk=False)
    assert cpu.get(ONE) is not None
    cpu.demote([ONE.key], to_disk=True)
    assert cpu.get(ONE) is None


def test_no_room_means_no_loading(cpu: Residency) -> None:
    for segment in (ONE, OTHER):
        answer(cpu, load(cpu, segment).near)
    entries = [cpu.get(segment) for segment in (ONE, OTHER)]
    for entry in entries:
        assert entry is not None
        cpu.near.pin(entry)
    assert not cpu.want(Segment("c" * 64, 1, "3" * 32), "t")
    assert cpu.take_loads() == ()


def test_a_blob_that_is_prefetched_from_disk_has_as_far_to_come(residency: Residency) -> None:
    residency.want_far(ONE, "t")
    (plan,) = residency.take_loads()
    assert residency.want(ONE, "t")
    assert residency.comes_from_disk(ONE)
    answer(residency, plan.far)
    load(residency, ONE)
    assert not residency.comes_from_disk(ONE)


def test_a_blob_being_copied_down_after_its_encode_is_worth_waiting_for(residency: Residency) -> None:
    near, _ = residency.targets(ONE, "t")
    answer(residency, near)
    residency.demote([ONE.key], to_disk=False)
    assert residency.want(ONE, "t")
    assert not residency.comes_from_disk(ONE)


def test_what_was_moved_away_is_overwritten_for_it_may_be_deleted_later(residency: Residency) -> None:
    plan = load(residency, ONE)
    answer(residency, plan.far, plan.near)
    residency.demote([ONE.key], to_disk=True)
    assert plan.near is not None
    assert sorted(residency.near.take_erased()) == sorted(plan.near.rows)


def test_it_is_settled_once_every_order_is_answered(residency: Residency) -> None:
    assert residency.is_settled
    plan = load(residency, ONE)
    assert not residency.is_settled
    answer(residency, plan.near)
    assert not residency.is_settled
    answer(residency, plan.far, start=None)
    assert residency.is_settled


def test_it_is_not_settled_while_rows_of_what_was_deleted_are_not_overwritten(residency: Residency) -> None:
    """A step comes for it though nobody asks anything."""
    plan = load(residency, ONE)
    assert plan.near is not None
    residency.erase([ONE.key])
    answer(residency, plan.near, plan.far)
    assert not residency.is_settled
    assert sorted(residency.near.take_erased()) == sorted(plan.near.rows)
    assert residency.far is not None
    residency.far.take_erased()
    assert residency.is_settled


def test_a_tenants_limits_count_in_the_tiers_they_name(residency: Residency, cpu: Residency) -> None:
    limits = [MemoryLimit("t", gpu_bytes=ONE.tokens * 8, host_bytes=None)]
    for each in (residency, cpu):
        each.limit(limits, row_bytes=8)
    assert residency.far is not None
    assert [books.reserve("x", tenant="t", tokens=5, digest="d") is None
            for books in (residency.near, residency.far, cpu.near)] == [True, False, False]  # fmt: skip
    cpu.limit([MemoryLimit("t", gpu_bytes=None, host_bytes=7)], row_bytes=8)
    assert cpu.near.reserve("y", tenant="t", tokens=1, digest="d") is None


def test_what_a_request_finds_is_counted_by_tier(residency: Residency) -> None:
    first = load(residency, ONE)
    answer(residency, first.far, first.near)
    residency.demote([ONE.key], to_disk=False)
    residency.count_lookups([ONE, OTHER])
    second = load(residency, ONE)
    answer(residency, second.near)
    residency.count_lookups([ONE, OTHER])
    counts = residency.counts()
    assert (counts["near_lookups"], counts["near_found"]) == (4, 1)
    assert (counts["far_lookups"], counts["far_found"]) == (3, 1)
    assert counts["disk_hits"] == 1
    assert residency.counts()["near_lookups"] == 0


def test_a_blob_that_could_not_be_read_is_no_hit_of_the_disk(residency: Residency) -> None:
    plan = load(residency, ONE)
    answer(residency, plan.far, plan.near, start=None)
    assert residency.counts()["disk_hits"] == 0


def test_what_is_held_is_named_by_tier_the_last_used_first(residency: Residency, cpu: Residency) -> None:
    for segment in (ONE, OTHER):
        plan = load(residency, segment)
        assert segment.key not in residency.held(9)["gpu"]
        answer(residency, plan.far, plan.near)
    residency.demote([ONE.key], to_disk=False)
    assert residency.held(9) == {"gpu": [OTHER.key], "host": [OTHER.key, ONE.key]}
    assert residency.held(1)["host"] == [OTHER.key]
    assert cpu.held(9) == {"host": []}
