"""Containers get secrets as files: NAME_FILE in place of NAME."""

import os
from pathlib import Path

import pytest
from config.env import read_environment, unknown_variables
from django.core.exceptions import ImproperlyConfigured

SECRET = "a secret of more than thirty-two characters"


def test_the_files_text_is_the_value(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for variable, text in (
        ("INFERSCALE_SECRET_KEY", SECRET),
        ("DATABASE_PASSWORD", "öpen"),
        ("REDIS_URL", "redis://r"),
    ):
        file = tmp_path / variable
        file.write_text(f"{text}\n")
        monkeypatch.delenv(variable, raising=False)
        monkeypatch.setenv(f"{variable}_FILE", str(file))
    env = read_environment()
    assert (env.secret_key, env.database_password, env.redis_url) == (SECRET, "öpen", "redis://r")


def test_the_variable_itself_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INFERSCALE_SECRET_KEY_FILE", "/etc/hostname")
    monkeypatch.setenv("INFERSCALE_SECRET_KEY", SECRET)
    assert read_environment().secret_key == SECRET


def test_a_file_that_cannot_be_read_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("INFERSCALE_SECRET_KEY", raising=False)
    monkeypatch.setenv("INFERSCALE_SECRET_KEY_FILE", str(tmp_path / "none"))
    with pytest.raises(ImproperlyConfigured, match=r"INFERSCALE_SECRET_KEY_FILE: cannot read .*none"):
        read_environment()


def test_what_a_file_says_is_checked_too(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "key").write_text("short")
    monkeypatch.delenv("INFERSCALE_SECRET_KEY", raising=False)
    monkeypatch.setenv("INFERSCALE_SECRET_KEY_FILE", str(tmp_path / "key"))
    with pytest.raises(ImproperlyConfigured, match="INFERSCALE_SECRET_KEY: must have at least 32 characters") as caught:
        read_environment()
    assert "short" not in str(caught.value)


def test_only_secrets_come_from_files() -> None:
    assert set(unknown_variables(["INFERSCALE_SECRET_KEY_FILE", "INFERSCALE_MODEL_FILE"])) == {"INFERSCALE_MODEL_FILE"}


def test_the_object_stores_client_finds_what_a_file_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """It reads variables alone, in this process and in those that it starts."""
    for variable, text in (("AWS_ACCESS_KEY_ID", "store"), ("AWS_SECRET_ACCESS_KEY", "hidden")):
        (tmp_path / variable).write_text(f"{text}\n")
        monkeypatch.setenv(variable, "")
        monkeypatch.setenv(f"{variable}_FILE", str(tmp_path / variable))
    read_environment().lend_to_store_client()
    assert (os.environ["AWS_ACCESS_KEY_ID"], os.environ["AWS_SECRET_ACCESS_KEY"]) == ("store", "hidden")
