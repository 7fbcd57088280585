"""An engine that encodes for others: what it writes is in the store and nowhere else."""

from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from transformers import AutoTokenizer

from inference.engine.local import LocalEngine, LocalEngineDied, LocalEngineRefused, LocalSettings
from inference.golden import GoldenMismatch
from memory.contracts import DropParams, EncodeParams, InjectParams, Segment, Span
from memory.digest import token_digest
from memory.models import resolve_model
from memory.prompt import ChatTemplate
from memory.store import BlobStore
from tests.engine.harness import key_of, wait_until_written

pytestmark = pytest.mark.engine
MODEL_LENGTH = 1024
FINGERPRINT = "f" * 32


@pytest.fixture(scope="module")
def settings(home: Path, store: Path) -> LocalSettings:
    flags = ("--max-model-len", str(MODEL_LENGTH))
    return LocalSettings(resolve_model("demo", home), store, FINGERPRINT, flags=flags)


@pytest.fixture(scope="module")
def local(settings: LocalSettings) -> Iterator[LocalEngine]:
    engine = LocalEngine(settings)
    yield engine
    engine.shutdown()


@pytest.fixture(scope="module")
def template(settings: LocalSettings) -> ChatTemplate:
    return ChatTemplate(AutoTokenizer.from_pretrained(str(settings.model)))


def encoded(local: LocalEngine, name: str) -> tuple[list[int], Segment]:
    """A prompt, and the segment that holds all of it but the last token."""
    ids = list(range(100, 164))
    segment = Segment(key_of(name, 0), len(ids) - 1, token_digest(ids[:-1]))
    params = EncodeParams("tenant", (Span(segment.key, 0, segment.tokens),))
    assert local.complete(ids, params, cache_salt=uuid4().hex).accepted == {segment.key}
    wait_until_written(BlobStore(local.settings.store), [segment.key])
    return ids, segment


def injected(local: LocalEngine, ids: list[int], segment: Segment) -> int | None:
    return local.complete(ids, InjectParams("tenant", (segment,)), cache_salt=uuid4().hex).cached_tokens


def test_it_passes_the_golden_check_and_leaves_nothing_behind(local: LocalEngine, template: ChatTemplate) -> None:
    before = set(BlobStore(local.settings.store).keys())
    local.check(template)
    assert set(BlobStore(local.settings.store).keys()) == before


def test_blobs_carry_the_configured_fingerprint(local: LocalEngine) -> None:
    _, segment = encoded(local, "fingerprint")
    blob = BlobStore(local.settings.store).read(segment.key)
    assert blob is not None
    assert blob.fingerprint == FINGERPRINT


def test_what_it_encodes_is_on_disk_alone(local: LocalEngine) -> None:
    ids, segment = encoded(local, "deleted")
    BlobStore(local.settings.store).delete(segment.key)
    assert injected(local, ids, segment) == 0
    kept_ids, kept = encoded(local, "kept")
    assert injected(local, kept_ids, kept) == kept.tokens, "loaded again from the disk"
    local.complete([0], DropParams((kept.key,)), cache_salt=uuid4().hex)


def test_flags_reach_vllm(local: LocalEngine) -> None:
    assert local.max_model_len == MODEL_LENGTH


def test_a_prompt_longer_than_the_model_is_refused(local: LocalEngine) -> None:
    with pytest.raises(LocalEngineRefused):
        local.complete([5] * (MODEL_LENGTH + 1), None, cache_salt=uuid4().hex)
    assert local.complete([5] * 8, None, cache_salt=uuid4().hex).cached_tokens == 0


def test_a_wrong_flag_is_vllms_own_message(settings: LocalSettings, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = LocalSettings(settings.model, settings.store, FINGERPRINT, flags=("--no-such-flag",))
    with pytest.raises(SystemExit):
        LocalEngine(wrong)
    assert "--no-such-flag" in capsys.readouterr().err


def test_an_engine_whose_blobs_do_not_come_back_fails_the_check(
    local: LocalEngine, template: ChatTemplate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It looks for them in another folder than the engine writes to."""
    monkeypatch.setattr("inference.golden.BLOB_SECONDS", 0.5)
    elsewhere = LocalSettings(local.settings.model, tmp_path, FINGERPRINT)
    monkeypatch.setattr(local, "settings", elsewhere)
    with pytest.raises((GoldenMismatch, TimeoutError)):
        local.check(template)


def test_after_its_end_whoever_asks_is_told(settings: LocalSettings, local: LocalEngine) -> None:
    local.shutdown()
    local.shutdown()
    with pytest.raises(LocalEngineDied):
        local.complete([5] * 8, None, cache_salt=uuid4().hex)
