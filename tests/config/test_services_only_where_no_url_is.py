from pathlib import Path

from config.env import Environment
from config.services import Services


def names(tmp_path: Path, *, database_url: str, redis_url: str) -> list[str]:
    env = Environment(home=tmp_path, database_url=database_url, redis_url=redis_url)
    return [status.name for status in Services(env).status()]


def test_a_url_names_a_server_of_somebody_else(tmp_path: Path) -> None:
    assert names(tmp_path, database_url="", redis_url="") == ["postgres", "redis"]
    assert names(tmp_path, database_url="postgres://db/x", redis_url="") == ["redis"]
    assert names(tmp_path, database_url="postgres://db/x", redis_url="redis://db/0") == []


def test_another_database_of_the_embedded_server_is_embedded(tmp_path: Path) -> None:
    url = Environment(home=tmp_path).redis_socket_url
    assert names(tmp_path, database_url="postgres://db/x", redis_url=f"{url}?db=9") == ["redis"]


def test_asking_makes_no_folder(tmp_path: Path) -> None:
    assert [status.running for status in Services(Environment(home=tmp_path / "new")).status()].count(True) == 0
    Services(Environment(home=tmp_path / "new")).stop()
    assert not (tmp_path / "new").exists()
