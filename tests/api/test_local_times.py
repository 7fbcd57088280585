"""A local time is the moment that its offset says, stored and answered in UTC, whatever the process's own zone is."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from facts.models import Fact, Turn
from tenants.scope import every_tenant

from tests.api.conftest import Caller


@pytest.fixture(params=["America/New_York", "Asia/Kolkata"])
def local_zone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Of the process, which the product must not care about."""
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    yield request.param
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize(
    ("given", "moment"),
    [
        ("2026-01-31T23:30:00-05:00", datetime(2026, 2, 1, 4, 30, tzinfo=UTC)),
        ("2026-02-01T10:00:00+05:30", datetime(2026, 2, 1, 4, 30, tzinfo=UTC)),
        ("2026-02-01T04:30:00Z", datetime(2026, 2, 1, 4, 30, tzinfo=UTC)),
        (1_769_920_200, datetime(2026, 2, 1, 4, 30, tzinfo=UTC)),
    ],
)
@pytest.mark.usefixtures("local_zone")
def test_a_time_is_stored_as_the_moment_it_names(owner: Caller, given: Any, moment: datetime) -> None:
    (memory_id,) = owner.add("Alice saw the lynx", timestamp=given)
    with every_tenant():
        assert Fact.objects.get(pk=memory_id).occurred_at == moment
        assert Turn.objects.get().occurred_at == moment
    assert owner.texts(filters={"timestamp": "2026-02-01T04:30:00Z"}) == ["Alice saw the lynx"]
    assert owner.texts(filters={"timestamp": {"gte": "2026-02-01"}}) == ["Alice saw the lynx"]
    assert owner.texts(filters={"timestamp": {"lt": "2026-01-31T23:30:00-05:00"}}) == []


@pytest.mark.usefixtures("local_zone")
def test_what_is_stored_now_is_answered_as_now_in_utc(owner: Caller) -> None:
    before = datetime.now(UTC)
    (memory_id,) = owner.add("Alice keeps bees")
    memory = owner.get(f"/v1/memories/{memory_id}/")[1]
    created = datetime.fromisoformat(memory["created_at"])
    assert (created.utcoffset(), memory["created_at"][-1]) == (timedelta(0), "Z")
    assert before <= created <= datetime.now(UTC)


@pytest.mark.usefixtures("local_zone")
def test_a_day_on_which_a_memory_expires_is_a_day_in_utc(owner: Caller) -> None:
    (day,) = owner.add("Alice has a ticket", expiration_date="2090-06-01")
    (hour,) = owner.add("Alice has a meeting", expiration_date="2090-06-01T20:00:00-04:00")
    with every_tenant():
        midnight = datetime(2090, 6, 2, tzinfo=UTC)
        assert {Fact.objects.get(pk=memory_id).expires_at for memory_id in (day, hour)} == {midnight}
    assert owner.get(f"/v1/memories/{day}/")[1]["expiration_date"] == "2090-06-01"


@pytest.mark.parametrize("field", ["timestamp", "expiration_date"])
def test_a_time_that_does_not_say_its_offset_is_refused_and_not_guessed(owner: Caller, field: str) -> None:
    body = {"messages": [{"role": "user", "content": "Alice keeps bees"}], "user_id": "alice", "infer": False}
    status, answer = owner.post("/v3/memories/add/", {**body, field: "2090-01-31T10:00:00"})
    assert (status, list(answer)) == (400, [field])
    assert owner.texts() == []
