"""Hosts that share an object store: each reads what another wrote, and keeps no copy of what was deleted."""

import os
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread

import pytest
import torch

from memory.blob import Blob
from memory.layout import KVLayout, LayerShape
from memory.objects import Objects
from memory.shared import SharedStore
from memory.store import Shard, StoreDown, name_of
from tests.object_store import ObjectServer, environment

LAYOUT = KVLayout((LayerShape(2, 4), LayerShape(1, 8)), "bfloat16")
CACHE_BYTES = 1 << 20
KEY = "0f" * 32
CREDENTIALS = {"AWS_ACCESS_KEY_ID": "store", "AWS_SECRET_ACCESS_KEY": "of tests"}


def a_blob(key: str = KEY, tokens: int = 5) -> Blob:
    rows = torch.randn(tokens, LAYOUT.row_elements, generator=torch.Generator().manual_seed(0)).bfloat16()
    return Blob(key, rows, 7, "d" * 32, LAYOUT.describe(), "model")


def key_of_number(number: int) -> str:
    return f"{number:04x}" * 16


@pytest.fixture
def host(bucket: str, tmp_path: Path) -> Callable[[str], SharedStore]:
    """The store as the host of this name has it."""
    return lambda name: SharedStore(tmp_path / name, Objects(bucket), CACHE_BYTES)


@pytest.fixture
def away() -> Objects:
    """Nothing listens at its endpoint."""
    with environment({"AWS_ENDPOINT_URL": "http://127.0.0.1:9", **CREDENTIALS}):
        return Objects("s3://away")


def files(store: SharedStore) -> list[str]:
    return sorted(path.name.split(".")[0] for path in store.root.rglob("*") if path.is_file())


def test_what_one_host_writes_another_reads_and_keeps(host: Callable[[str], SharedStore]) -> None:
    host("a").write(a_blob())
    b = host("b")
    read = b.read(KEY)
    assert read is not None
    assert torch.equal(read.rows, a_blob().rows)
    assert b.path(KEY).read_bytes() == host("a").path(KEY).read_bytes()
    assert b.verify(KEY) == a_blob().info


def test_a_copy_is_read_without_the_object_store(bucket: str, tmp_path: Path) -> None:
    with ObjectServer() as server, environment(server.variables):
        store = SharedStore(tmp_path, Objects(server.make_bucket()), CACHE_BYTES)
        store.write(a_blob())
        server.stop()
        assert store.read(KEY) is not None


def test_a_damaged_copy_is_fetched_anew(host: Callable[[str], SharedStore]) -> None:
    store = host("a")
    store.write(a_blob())
    good = store.path(KEY).read_bytes()
    store.path(KEY).write_bytes(good[:-1] + b"\0")
    assert store.read(KEY) is not None
    assert store.path(KEY).read_bytes() == good


def test_a_copy_does_not_make_up_for_a_lost_object(host: Callable[[str], SharedStore]) -> None:
    store = host("a")
    store.write(a_blob())
    store.objects.delete([name_of(KEY, Shard())])
    assert store.verify(KEY) is None
    assert not store.exists(KEY)


def test_a_deletion_reaches_the_copies_of_a_host_that_is_told(host: Callable[[str], SharedStore]) -> None:
    a, b = host("a"), host("b")
    for key in (KEY, "1e" * 32):
        a.write(a_blob(key))
        b.read(key)
    a.delete(KEY)
    b.drop_copies([KEY], Shard())
    assert (files(a), files(b)) == (["1e" * 32], ["1e" * 32])
    assert b.read(KEY) is None


def test_copies_of_what_was_deleted_unheard_are_swept(host: Callable[[str], SharedStore]) -> None:
    a, b = host("a"), host("b")
    for key in (KEY, "1e" * 32):
        a.write(a_blob(key))
        b.read(key)
    left = b.path(KEY).with_name("half.writing")
    left.write_bytes(b"half a blob")
    long_ago = time.time() - 7200
    os.utime(left, (long_ago, long_ago))
    a.delete(KEY)
    assert b.sweep() == 2
    assert files(b) == ["1e" * 32]


class SlowObjects(Objects):
    """Waits at each answer until it is let go."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.asked, self.goes_on = Event(), Event()

    def get(self, name: str) -> bytes | None:
        data = super().get(name)
        self._wait()
        return data

    def put(self, name: str, data: bytes) -> None:
        super().put(name, data)
        self._wait()

    def _wait(self) -> None:
        self.asked.set()
        assert self.goes_on.wait(10)


@pytest.mark.parametrize("doing", ["read", "write"])
def test_what_is_deleted_while_it_is_under_way_stays_nowhere(
    bucket: str, tmp_path: Path, host: Callable[[str], SharedStore], doing: str
) -> None:
    a, slow = host("a"), SlowObjects(bucket)
    b = SharedStore(tmp_path / "b", slow, CACHE_BYTES)
    if doing == "read":
        a.write(a_blob())
    thread = Thread(target=b.read if doing == "read" else b.write, args=[KEY if doing == "read" else a_blob()])
    thread.start()
    assert slow.asked.wait(10)
    a.delete(KEY)
    b.drop_copies([KEY], Shard())
    slow.goes_on.set()
    thread.join(10)
    assert files(b) == []
    assert not a.exists(KEY)


def test_copies_stay_below_the_bound_and_the_least_recently_read_go(bucket: str, tmp_path: Path) -> None:
    bound = 10 * SharedStore(tmp_path, Objects(bucket), 0).write(a_blob())
    store = SharedStore(tmp_path / "a", Objects(bucket), bound)
    for number in range(1, 41):
        store.write(a_blob(key_of_number(number)))
        assert store.read(key_of_number(1)) is not None
        assert sum(path.stat().st_size for path in store.root.rglob("*") if path.is_file()) <= bound
    kept = files(store)
    assert key_of_number(1) in kept
    assert key_of_number(40) in kept
    assert 5 <= len(kept) <= 10
    assert store.read(key_of_number(2)) is not None, "what left is still in the object store"


def test_no_copies_are_made_without_room(bucket: str, tmp_path: Path) -> None:
    store = SharedStore(tmp_path, Objects(bucket), 0)
    store.write(a_blob())
    assert store.read(KEY) is not None
    assert files(store) == []


def test_a_store_that_is_away_is_a_miss_to_readers_and_an_error_to_all_others(tmp_path: Path, away: Objects) -> None:
    store = SharedStore(tmp_path, away, CACHE_BYTES)
    started = time.monotonic()
    assert [store.read(KEY) for _ in range(50)] == [None] * 50
    assert time.monotonic() - started < 5, "each asked anew"
    for ask in (store.exists, store.verify, store.delete, lambda key: store.write(a_blob(key))):
        with pytest.raises(StoreDown):
            ask(KEY)
    assert files(store) == []


@pytest.mark.parametrize("trouble", [403, 500, 503, "slow"], ids=str)
def test_a_store_in_trouble_says_nothing_of_blobs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trouble: int | str
) -> None:
    monkeypatch.setattr("memory.objects.ANSWER_SECONDS", 0.3)
    monkeypatch.setattr("memory.objects.RETRY_SECONDS", 0.3)

    class Troubled(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if isinstance(trouble, str):
                time.sleep(1)
                return
            self.send_response(trouble)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            pass

    for method in ("PUT", "POST"):
        setattr(Troubled, f"do_{method}", Troubled.do_GET)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Troubled)
    Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    with environment({"AWS_ENDPOINT_URL": f"http://127.0.0.1:{server.server_port}", **CREDENTIALS}):
        store = SharedStore(tmp_path, Objects("s3://bucket"), CACHE_BYTES)
    try:
        assert store.read(KEY) is None
        for ask in (store.exists, store.verify, store.delete, lambda key: store.write(a_blob(key))):
            with pytest.raises(StoreDown):
                ask(KEY)
        with pytest.raises(StoreDown):
            list(store.keys())
    finally:
        server.shutdown()
        server.server_close()


def test_a_store_that_comes_back_is_read_again(
    host: Callable[[str], SharedStore], away: Objects, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memory.shared.AWAY_SECONDS", 0.2)
    host("a").write(a_blob())
    store = host("b")
    here, store.objects = store.objects, away
    assert store.read(KEY) is None
    store.objects = here
    assert store.read(KEY) is None
    time.sleep(0.3)
    assert store.read(KEY) is not None


def test_a_bucket_that_is_not_there_says_nothing_of_blobs(object_server: ObjectServer, tmp_path: Path) -> None:
    store = SharedStore(tmp_path, Objects("s3://no-such-bucket/blobs"), CACHE_BYTES)
    assert store.read(KEY) is None
    for ask in (store.exists, store.verify):
        with pytest.raises(StoreDown, match="no-such-bucket"):
            ask(KEY)


def test_two_prefixes_of_a_bucket_know_nothing_of_each_other(bucket: str, tmp_path: Path) -> None:
    one, other = (SharedStore(tmp_path / name, Objects(f"{bucket}/{name}"), CACHE_BYTES) for name in ("one", "other"))
    one.write(a_blob())
    assert (other.read(KEY), other.exists(KEY), list(other.keys())) == (None, False, [])
    other.write(a_blob())
    other.delete(KEY)
    assert one.exists(KEY)


def test_presence_is_told_for_a_sixteenth_of_the_keys_at_a_time(host: Callable[[str], SharedStore]) -> None:
    store = host("a")
    store.write(a_blob())
    lost, elsewhere = "0e" * 32, "1e" * 32
    is_present = store.presence(16)
    assert (is_present(KEY), is_present(lost), is_present(elsewhere)) == (True, False, True)
    store.write(a_blob(lost))
    assert is_present(lost), "written since the list was made"
    assert not store.presence(17)(elsewhere)
