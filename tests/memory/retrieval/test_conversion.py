"""The converted model computes what torch does; one that cannot be converted so stays in torch."""

import logging
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from sentence_transformers import SentenceTransformer

from memory.retrieval import Embedder
from memory.retrieval.converted import ConversionFailed, ConvertedForward
from memory.retrieval.forward import Features, TorchForward, length_one

TEXTS = ["A dog sleeps on the sofa.", "rain", "The train to Lisbon leaves at nine. " * 40]


@pytest.fixture(scope="module")
def model(embedding_folder: Path) -> SentenceTransformer:
    return SentenceTransformer(str(embedding_folder), device="cpu").eval()


@pytest.fixture(scope="module")
def probes(model: SentenceTransformer) -> list[Features]:
    return [dict(model.preprocess(texts)) for texts in (["one", "one and two"], ["one two three", "a", "b"])]


class Changed(torch.nn.Module):
    """Reads the texts' number as a Python integer, which tracing holds fast."""

    def forward(self, features: Features) -> Features:
        rows = len(features["sentence_embedding"].tolist())
        turned = torch.roll(features["sentence_embedding"], rows, dims=1)
        return {**features, "sentence_embedding": turned}


class Untraceable(torch.nn.Module):
    def forward(self, features: Features) -> Features:
        if torch._C._get_tracing_state() is not None:
            raise NotImplementedError("not to be traced")
        return features


def test_the_embedder_uses_the_converted_model(embedder: Embedder) -> None:
    assert isinstance(embedder._forward, ConvertedForward)


def test_vectors_are_torchs_own(model: SentenceTransformer, embedder: Embedder) -> None:
    (expected,) = TorchForward(model).run([dict(model.preprocess(TEXTS))])
    assert (embedder.encode(TEXTS) * length_one(expected)).sum(axis=1).min() > 0.999


def test_many_batches_come_back_in_their_order(model: SentenceTransformer, probes: list[Features]) -> None:
    converted = ConvertedForward(model, *probes)
    together = converted.run(probes * 6)
    for batch, vectors in zip(probes * 6, together, strict=True):
        (alone,) = converted.run([batch])
        np.testing.assert_allclose(vectors, alone, atol=4e-3)


@pytest.mark.parametrize(("stage", "reason"), [(Changed, "its vectors turn"), (Untraceable, "not to be traced")])
def test_a_model_that_conversion_would_change_is_refused(
    embedding_folder: Path, probes: list[Features], stage: type[torch.nn.Module], reason: str
) -> None:
    model = SentenceTransformer(str(embedding_folder), device="cpu").eval()
    model.append(stage())
    with pytest.raises(ConversionFailed, match=reason):
        ConvertedForward(model, *probes)


def test_it_then_stays_in_torch_with_a_warning(
    embedding_folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    folder = SentenceTransformer(str(embedding_folder), device="cpu")
    folder.append(Untraceable())
    monkeypatch.setattr("memory.retrieval.embedder.SentenceTransformer", lambda *args, **kwargs: folder)
    log = logging.getLogger("memory.retrieval.embedder")
    log.addHandler(caplog.handler)
    embedder = Embedder(embedding_folder)
    log.removeHandler(caplog.handler)
    assert isinstance(embedder._forward, TorchForward)
    own = {record.getMessage() for record in caplog.records if record.name == "memory.retrieval.embedder"}
    assert ["stays in torch" in message for message in own] == [True]
    np.testing.assert_allclose(np.linalg.norm(embedder.encode(TEXTS), axis=1), 1, atol=1e-5)


def test_nothing_is_reported_to_the_makers_of_openvino(tmp_path: Path) -> None:
    """Its telemetry package, when installed, sends an event as soon as OpenVINO is imported."""
    told = tmp_path / "told"
    (tmp_path / "openvino_telemetry.py").write_text(f"open({str(told)!r}, 'w').close()")
    code = "from memory.retrieval.converted import _openvino; print(_openvino().convert_model.__name__)"
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    found = subprocess.run(
        [sys.executable, "-c", code], env=environment, cwd=Path(__file__).parents[3], capture_output=True, text=True
    )
    assert (found.stdout.strip(), found.returncode) == ("convert_model", 0), found.stderr
    assert not told.exists()
