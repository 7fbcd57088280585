import pytest
from facts import enqueue


@pytest.fixture(autouse=True)
def broker_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever an earlier test found it to be."""
    monkeypatch.setattr(enqueue, "_paused_until", 0.0)
