import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from config.env import Environment
from django.core.exceptions import ImproperlyConfigured


def test_all_that_start_together_get_one_secret(tmp_path: Path) -> None:
    with ThreadPoolExecutor(16) as pool:
        secrets = set(pool.map(lambda _: Environment(home=tmp_path / "home").secret(), range(64)))
    assert len(secrets) == 1
    assert len(secrets.pop()) >= 32
    assert [path.name for path in (tmp_path / "home").iterdir()] == ["secret.key"]


def test_only_its_owner_reads_it(tmp_path: Path) -> None:
    Environment(home=tmp_path).secret()
    assert stat.S_IMODE((tmp_path / "secret.key").stat().st_mode) == 0o600


def test_a_configured_secret_leaves_no_file(tmp_path: Path) -> None:
    assert Environment(home=tmp_path, secret_key="k" * 32).secret() == "k" * 32
    assert list(tmp_path.iterdir()) == []


def test_two_purposes_share_no_key(tmp_path: Path) -> None:
    env = Environment(home=tmp_path)
    assert env.derived_secret("django") != env.derived_secret("cache-salt")


def test_what_the_secret_before_made_is_still_known(tmp_path: Path) -> None:
    old = Environment(home=tmp_path, secret_key="o" * 32)
    new = Environment(home=tmp_path, secret_key="n" * 32, secret_key_before="o" * 32)
    assert new.derived_secrets_before("django") == [old.derived_secret("django")] != [new.derived_secret("django")]
    assert old.derived_secrets_before("django") == []


def test_a_home_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(ImproperlyConfigured, match="INFERSCALE_HOME"):
        Environment(home=tmp_path / "file" / "home").secret()
