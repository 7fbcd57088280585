"""A vLLM engine in this process with the connector, driven by token ids and timed."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any
from uuid import uuid4

from inference.engine.server import GPU_BLOCK_SIZE, choose_model_runner, kv_transfer, step_graphs

GRAPHS: dict[str, dict[str, Any]] = {
    "served": step_graphs(),
    "auto": {},
    "full": {"cudagraph_mode": "FULL"},
    "piecewise": {"cudagraph_mode": "PIECEWISE"},
    "none": {"cudagraph_mode": "NONE"},
}
GRAPHS_HELP = "CUDA graphs: served, as serve has them; auto, as vLLM chooses; or a mode of vLLM's (served)"
CPU_KV_CACHE_GIB = "2"
STAGE_SECONDS = 30.0  # loading is to be measured, however long it takes, not given up


@dataclass(frozen=True)
class EngineSettings:
    """`random_weights`: the folder has none. `cudagraph`: a name of GRAPHS."""

    model: Path
    store: Path
    max_model_len: int
    host_bytes: int
    gpu_bytes: int
    row_dtype: str = "auto"
    random_weights: bool = False
    cudagraph: str = "served"
    gpu_memory_utilization: float = 0.8
    arguments: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class BatchedRequest:
    """`stop_ids` end the answer before `max_tokens`; without any it is that long. `extra` goes to logits processors."""

    token_ids: Sequence[int]
    max_tokens: int = 1
    params: Mapping[str, Any] | None = None
    stop_ids: Sequence[int] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class BatchedAnswer:
    """`cached_tokens`: of the prompt, those that were not computed."""

    token_ids: list[int]
    cached_tokens: int
    params: dict[str, Any] | None


@dataclass(frozen=True)
class TimedRequest:
    ms: float
    cached_tokens: int
    """Prompt tokens that were not computed."""
    params: dict[str, Any] | None


def has_gpu() -> bool:
    """Asked of vLLM, which knows what it was built for."""
    from vllm.platforms import current_platform

    return not current_platform.is_cpu()


class InProcessEngine:
    """Use as a context manager; one at a time. The engine core runs in this process where vLLM can do that."""

    def __init__(self, settings: EngineSettings) -> None:
        os.environ["VLLM_ENABLE_V1_MULTIPROCESSING"] = "0"  # before vLLM is loaded: the engine is timed, not its IPC
        os.environ.setdefault("VLLM_CPU_KVCACHE_SPACE", CPU_KV_CACHE_GIB)
        os.environ.setdefault("HF_HUB_OFFLINE", "1")
        choose_model_runner()
        from vllm import LLM

        self.settings = settings
        self.llm: Any = LLM(str(settings.model), **_arguments(settings))

    def __enter__(self) -> "InProcessEngine":
        return self

    def __exit__(self, *_: object) -> None:
        self.llm.llm_engine.engine_core.shutdown()

    @property
    def facts(self) -> dict[str, Any]:
        """How the engine runs, for the record."""
        core = type(self.llm.llm_engine.engine_core).__name__
        config = self.llm.llm_engine.vllm_config
        mode = config.compilation_config.cudagraph_mode
        return {
            "engine_core": core,
            "model_runner": "v2" if getattr(config, "use_v2_model_runner", False) else "v1",
            "multiprocessing": core != "InprocClient",
            "cudagraph_mode": getattr(mode, "name", str(mode)),
            "cudagraph_tokens": config.compilation_config.max_cudagraph_capture_size,
            "block_size": config.cache_config.block_size,
            "max_num_batched_tokens": config.scheduler_config.max_num_batched_tokens,
            "async_scheduling": bool(getattr(config.scheduler_config, "async_scheduling", False)),
        }

    def request(
        self,
        token_ids: Sequence[int],
        params: Mapping[str, Any] | None = None,
        *,
        salt: str | None = None,
        max_tokens: int = 1,
    ) -> TimedRequest:
        """From handing over the ids to having the last token. Without a salt no other request's blocks are reused."""
        request = BatchedRequest(token_ids, max_tokens, params)
        prompt, sampling = _prompt(request, salt), _sampling(request)
        started = perf_counter()
        output = self.llm.generate([prompt], [sampling], use_tqdm=False)[0]
        ended = perf_counter()
        return TimedRequest((ended - started) * 1000, output.num_cached_tokens or 0, output.kv_transfer_params)

    def request_all(self, requests: Sequence[BatchedRequest]) -> list[BatchedAnswer]:
        """In one batch, in this order. None reuses another's blocks."""
        prompts = [_prompt(request) for request in requests]
        outputs = self.llm.generate(prompts, [_sampling(request) for request in requests], use_tqdm=False)
        return [
            BatchedAnswer(list(out.outputs[0].token_ids), out.num_cached_tokens or 0, out.kv_transfer_params)
            for out in outputs
        ]


def _prompt(request: BatchedRequest, salt: str | None = None) -> dict[str, Any]:
    return {"prompt_token_ids": list(request.token_ids), "cache_salt": salt or uuid4().hex}


def _sampling(request: BatchedRequest) -> Any:
    from vllm import SamplingParams

    transfer = {"kv_transfer_params": dict(request.params)} if request.params else {}
    return SamplingParams(
        temperature=0,
        max_tokens=request.max_tokens,
        ignore_eos=not request.stop_ids,
        stop_token_ids=list(request.stop_ids),
        detokenize=False,
        extra_args={**transfer, **request.extra} or None,
    )


def _arguments(settings: EngineSettings) -> dict[str, Any]:
    from vllm.config import KVTransferConfig

    connector = {
        "store": str(settings.store),
        "host_bytes": settings.host_bytes,
        "gpu_bytes": settings.gpu_bytes,
        "row_dtype": settings.row_dtype,
        "stage_seconds": STAGE_SECONDS,
        "waits_for_disk": True,
    }
    arguments: dict[str, Any] = {
        "kv_transfer_config": KVTransferConfig(**kv_transfer(connector)),
        "enable_prefix_caching": True,
        "skip_tokenizer_init": True,  # prompts are ids, and answers are not read
        "max_model_len": settings.max_model_len,
        "load_format": "dummy" if settings.random_weights else "auto",
    }
    if has_gpu():
        arguments |= {"gpu_memory_utilization": settings.gpu_memory_utilization, "block_size": GPU_BLOCK_SIZE}
        arguments["compilation_config"] = dict(GRAPHS[settings.cudagraph])
    else:
        arguments |= {"enforce_eager": True, "max_num_seqs": 16}
    return arguments | dict(settings.arguments)
