from pathlib import Path
from typing import Any

import pytest
from config.checks import check_settings
from config.env import Environment
from pytest_django import Settings


def ids(settings: Settings, tmp_path: Path, **values: Any) -> list[str | None]:
    settings.ENV = Environment(**{"home": tmp_path / "home", "store": tmp_path / "blobs", **values})
    return [message.id for message in check_settings()]


def test_defaults_are_fine(settings: Settings, tmp_path: Path) -> None:
    assert ids(settings, tmp_path) == []


def test_folders_must_be_writable(settings: Settings, tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    assert ids(settings, tmp_path, home=blocked / "home") == ["inferscale.E001"]
    assert ids(settings, tmp_path, store=blocked / "store") == ["inferscale.E002"]


def test_a_socket_folder_made_by_somebody_else_is_not_trusted(settings: Settings, tmp_path: Path) -> None:
    env = Environment(home=tmp_path / "home", database_url="", redis_url="")
    env.socket_folder.symlink_to(tmp_path)
    try:
        assert ids(settings, tmp_path, database_url="", redis_url="") == ["inferscale.E003"]
        assert ids(settings, tmp_path, database_url="postgres://db/x", redis_url="redis://db") == []
    finally:
        env.socket_folder.unlink()


def test_web_and_engine_need_ports_of_their_own(settings: Settings, tmp_path: Path) -> None:
    assert ids(settings, tmp_path, web_port=8000, engine_port=8000) == ["inferscale.E004"]


def test_debug_pages_are_not_for_every_host(settings: Settings, tmp_path: Path) -> None:
    assert ids(settings, tmp_path, debug=True) == ["inferscale.E005"]
    assert ids(settings, tmp_path, debug=True, allowed_hosts="localhost") == []


def test_a_model_folder_must_hold_a_model(settings: Settings, tmp_path: Path) -> None:
    assert ids(settings, tmp_path, model=str(tmp_path)) == ["inferscale.E006"]
    (tmp_path / "config.json").write_text("{}")
    assert ids(settings, tmp_path, model=str(tmp_path)) == []


def test_an_api_that_finds_facts_is_named_with_its_model(settings: Settings, tmp_path: Path) -> None:
    url = "http://llm:9000/v1"
    assert ids(settings, tmp_path, extractor_url=url) == ["inferscale.E007"]
    assert ids(settings, tmp_path, extractor_model="big") == ["inferscale.E007"]
    assert ids(settings, tmp_path, extractor_key="sk") == ["inferscale.E007"]
    assert ids(settings, tmp_path, extractor_url=url, extractor_model="big", extractor_key="sk") == []


def test_a_reranker_is_named_with_its_model(settings: Settings, tmp_path: Path) -> None:
    url = "http://judge:9000/v1"
    assert ids(settings, tmp_path, rerank_url=url) == ["inferscale.E008"]
    assert ids(settings, tmp_path, rerank_model="big") == ["inferscale.E008"]
    assert ids(settings, tmp_path, rerank_key="sk") == ["inferscale.E008"]
    assert ids(settings, tmp_path, rerank_url=url, rerank_model="big", rerank_key="sk") == []


def test_a_misspelt_variable_is_warned_of(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INFERSCALE_TOPK", "5")
    assert ids(settings, tmp_path) == ["inferscale.W001"]


def test_another_machine_needs_the_same_secret(settings: Settings, tmp_path: Path) -> None:
    assert ids(settings, tmp_path, engine_url="http://engine:8000") == ["inferscale.W002"]
    assert ids(settings, tmp_path, engine_url="http://engine:8000", secret_key="k" * 32) == []
    assert ids(settings, tmp_path, engine_url="http://127.0.0.1:8000") == []


def test_blobs_must_fit_in_memory(settings: Settings, tmp_path: Path) -> None:
    assert ids(settings, tmp_path, host_kv_bytes=1 << 60) == ["inferscale.W003"]
