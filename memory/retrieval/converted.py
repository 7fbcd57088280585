"""A sentence-transformers model converted to OpenVINO: a short text takes a third of torch's time on a CPU."""

import os
import sys
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from sentence_transformers import SentenceTransformer

from memory.retrieval.forward import Features, TorchForward, Vectors, length_one

LEAST_COSINE = 0.99  # bfloat16 leaves 0.9999


class ConversionFailed(RuntimeError):
    """The model cannot be converted, or not without changing what it computes; the message says why."""


class ConvertedForward:
    """The whole model, pooling included, for any batch size and length.

    A batch alone is computed by a few threads where there are many cores; of many batches each has one thread.
    """

    def __init__(self, model: SentenceTransformer, probe: Features, other: Features) -> None:
        """`probe` and `other`: features of different sizes, both with padding. Raises ConversionFailed."""
        self._names = [name for name, value in probe.items() if isinstance(value, torch.Tensor)]
        try:
            self._openvino = _openvino()
            converted = self._convert(model, probe)
            self._many = self._compile(converted, streams=_threads(), threads=_threads())
            few = _threads_for_one()
            self._one = self._many if few == 1 else self._compile(converted, streams=1, threads=few)
            self._check(TorchForward(model), [probe, other])
        except ConversionFailed:
            raise
        except Exception as error:  # tracing runs the model's own code, which raises what it likes
            raise ConversionFailed(f"{type(error).__name__}: {' '.join(str(error).split())}") from error

    def run(self, batches: Sequence[Features]) -> list[Vectors]:
        if len(batches) < 2:
            return [self._one.create_infer_request().infer(self._inputs(batch))[0].copy() for batch in batches]
        vectors: list[Vectors] = [np.empty(0, np.float32)] * len(batches)

        def keep(request: Any, index: int) -> None:
            vectors[index] = request.get_output_tensor(0).data.copy()

        requests = self._openvino.AsyncInferQueue(self._many, _threads())
        requests.set_callback(keep)
        for index, batch in enumerate(batches):
            requests.start_async(self._inputs(batch), index)
        requests.wait_all()
        return vectors

    def _inputs(self, features: Features) -> list[Any]:
        return [features[name].numpy() for name in self._names]

    def _convert(self, model: SentenceTransformer, probe: Features) -> Any:
        constants = {name: value for name, value in probe.items() if name not in self._names}
        tensors = tuple(probe[name] for name in self._names)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what tracing holds fast: the check finds what must not be
            return self._openvino.convert_model(_Positional(model, self._names, constants), example_input=tensors)

    def _compile(self, converted: Any, *, streams: int, threads: int) -> Any:
        # Not pinned: other processes would pin theirs to the same first cores.
        settings = {"NUM_STREAMS": streams, "INFERENCE_NUM_THREADS": threads, "ENABLE_CPU_PINNING": False}
        return self._openvino.compile_model(converted, "CPU", {**settings, "INFERENCE_PRECISION_HINT": _precision()})

    def _check(self, torch_forward: TorchForward, batches: list[Features]) -> None:
        for ours, expected in zip(self.run(batches), torch_forward.run(batches), strict=True):
            if ours.shape != expected.shape:
                raise ConversionFailed(f"it gives the shape {ours.shape} in place of {expected.shape}")
            cosine = float((length_one(ours) * length_one(expected)).sum(axis=1).min())
            if not cosine >= LEAST_COSINE:
                raise ConversionFailed(f"its vectors turn: cosine {cosine:.4f}")


class _Positional(torch.nn.Module):
    """Tracing takes tensors by place, the model takes a dict."""

    def __init__(self, model: SentenceTransformer, names: list[str], constants: Features) -> None:
        super().__init__()
        self.model, self.names, self.constants = model, names, constants
        self.eval()

    def forward(self, *tensors: torch.Tensor) -> torch.Tensor:
        features = {**dict(zip(self.names, tensors, strict=True)), **self.constants}
        vectors: torch.Tensor = self.model(features)["sentence_embedding"]
        return vectors


def _openvino() -> Any:
    """Without the package through which it reports its use to its makers, should that be installed."""
    sys.modules.setdefault("openvino_telemetry", None)  # type: ignore[arg-type]
    import openvino

    return openvino


def _threads() -> int:
    return min(8, len(os.sched_getaffinity(0)))


def _threads_for_one() -> int:
    """More do not pay for so small a model, and engine and other servers share the cores."""
    return max(1, min(4, len(os.sched_getaffinity(0)) // 4))


def _precision() -> str:
    """bfloat16 where the processor computes in it; OpenVINO's own choice also takes it where it is emulated."""
    can = torch.cpu.get_capabilities()
    return "bf16" if can.get("avx512_bf16") or can.get("amx_bf16") else "f32"
