"""The served model itself writes profiles and summaries, in the form asked for. How well depends on the model."""

from collections.abc import Callable
from typing import Any

import pytest
from tenants.services import project_settings_update

from tests.stack.app import App
from tests.workers.running.processes import until

pytestmark = [pytest.mark.engine, pytest.mark.django_db(transaction=True)]
SAID = ("Nora lives in Skerrow.", "Nora repairs old ship logbooks.", "Nora has a cat called Pepper.")
ENDED = ("succeeded", "failed", "insufficient_data")


def ended(ask: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    until(lambda: ask()["status"] in ENDED, "the job ends", 240)
    return ask()


def test_a_profile_and_a_summary_share_words_with_the_memories(app: App) -> None:
    project_settings_update(tenant=app.tenant, changes={"profiles_enabled": True}, actor="test")
    app.remember("nora", *SAID)
    app.memory_api("POST", "/v2/entities/user/nora/profile/").raise_for_status()
    body = {"filters": {"user_id": "nora"}}
    profile = ended(lambda: dict(app.memory_api("GET", "/v2/entities/user/nora/profile/").json()))
    summary = ended(lambda: dict(app.memory_api("POST", "/v1/summary/", json=body).json()))
    assert (profile["status"], profile["error"], summary["status"], summary["error"]) == ("succeeded", "") * 2
    assert all("nora" in text.casefold() for text in (profile["profile"], summary["summary"]))
