"""A vLLM of a worker's own, that encodes and serves nobody."""

import asyncio
import json
import os
from collections.abc import Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import Any
from uuid import uuid4

from inference.engine.server import GPU_BLOCK_SIZE, GPU_SHARE, kv_transfer
from inference.golden import Completion, GoldenInjection, golden_prompt
from memory.contracts import Params
from memory.prompt import ChatTemplate
from memory.store import open_store

ARENA_BYTES = 256 << 20  # for the golden check: what is encoded is kept on disk alone
CPU_KV_CACHE_GIB = "1"
START_SECONDS, ANSWER_SECONDS, STOP_SECONDS = 900.0, 300.0, 10.0


class LocalEngineDied(Exception):
    """It ended while it worked; another one can be started."""


class LocalEngineRefused(Exception):
    """It will never take this request."""


@dataclass(frozen=True)
class LocalSettings:
    """`fingerprint`: of model, KV dtype, row dtype and ranks, as the serving engine's. `flags` are vLLM's own and win.

    `store_url`: an object store in place of the folder `store`, without copies: no deletion would reach them here.
    """

    model: Path
    store: Path
    fingerprint: str
    store_url: str = ""
    kv_cache_dtype: str = "auto"
    row_dtype: str = "auto"
    ranks: int = 1
    flags: tuple[str, ...] = ()


class LocalEngine:
    """vLLM's core runs in a child process, its asyncio front in a thread; any thread of this process may ask.

    Not in a process that was forked: CUDA does not survive it. Raises what vLLM raises when it cannot start; ends the
    process with vLLM's own message when a flag is wrong.
    """

    def __init__(self, settings: LocalSettings) -> None:
        os.environ.setdefault("VLLM_CPU_KVCACHE_SPACE", CPU_KV_CACHE_GIB)
        os.environ["VLLM_WORKER_MULTIPROC_METHOD"] = "spawn"  # this process has threads
        if settings.model.is_dir():
            os.environ.setdefault("HF_HUB_OFFLINE", "1")
        self.settings = settings
        arguments = _arguments(settings)
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._loop.run_forever, name="local-engine", daemon=True)
        self._thread.start()
        self._llm: Any = None
        try:
            self._llm = self._await(self._start(arguments), START_SECONDS)
        except BaseException:
            self.shutdown()
            raise

    @property
    def max_model_len(self) -> int:
        return int(self._llm.model_config.max_model_len)

    def complete(self, token_ids: Sequence[int], params: Params | None, *, cache_salt: str) -> Completion:
        """Raises LocalEngineDied, LocalEngineRefused, TimeoutError, or vLLM's own exception for a failed request."""
        completion: Completion = self._await(self._complete(token_ids, params, cache_salt), ANSWER_SECONDS)
        return completion

    def check(self, template: ChatTemplate) -> None:
        """Raises GoldenMismatch."""
        store = open_store(self.settings.store, self.settings.store_url)

        async def complete(token_ids: Sequence[int], params: Params | None) -> Completion:
            return await self._complete(token_ids, params, uuid4().hex)

        golden = GoldenInjection(complete, self.settings.fingerprint, golden_prompt(template), store)
        self._await(golden.check(), ANSWER_SECONDS)

    def shutdown(self) -> None:
        """Idempotent; whoever waits for an answer gets LocalEngineDied."""
        llm, self._llm = self._llm, None
        if llm is not None:
            llm.shutdown()
        if self._loop.is_running():
            asyncio.run_coroutine_threadsafe(self._end(), self._loop)
            self._thread.join(STOP_SECONDS)

    async def _end(self) -> None:
        waiting = asyncio.all_tasks() - {asyncio.current_task()}
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        self._loop.stop()

    @staticmethod
    async def _start(arguments: Any) -> Any:
        """In the loop's thread, for vLLM starts tasks of its own."""
        from vllm.v1.engine.async_llm import AsyncLLM

        return AsyncLLM.from_engine_args(arguments)

    async def _complete(self, token_ids: Sequence[int], params: Params | None, cache_salt: str) -> Completion:
        from vllm import SamplingParams
        from vllm.v1.engine.exceptions import EngineDeadError

        from inference.engine.compat import REFUSALS

        extra = {"kv_transfer_params": params.to_params()} if params else None
        sampling = SamplingParams(temperature=0, max_tokens=1, logprobs=1, detokenize=False, extra_args=extra)
        prompt = {"prompt_token_ids": list(token_ids), "cache_salt": cache_salt}
        output: Any = None
        try:
            async for answered in self._llm.generate(prompt, sampling, uuid4().hex):
                output = answered
        except EngineDeadError as error:
            raise LocalEngineDied(str(error)) from error
        except REFUSALS as error:
            raise LocalEngineRefused(str(error)) from error
        answer = output.outputs[0]
        (token,) = answer.token_ids
        accepted = (output.kv_transfer_params or {}).get("accepted") or ()
        return Completion(token, answer.logprobs[0][token].logprob, output.num_cached_tokens, frozenset(accepted))

    def _await(self, work: Any, seconds: float) -> Any:
        if not self._thread.is_alive():
            work.close()
            raise LocalEngineDied("it was stopped")
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result(seconds)
        except CancelledError as error:
            raise LocalEngineDied("it was stopped") from error
        except TimeoutError:
            future.cancel()
            raise


def _arguments(settings: LocalSettings) -> Any:
    """vLLM's AsyncEngineArgs."""
    from vllm.engine.arg_utils import AsyncEngineArgs
    from vllm.platforms import current_platform
    from vllm.utils.argparse_utils import FlexibleArgumentParser

    connector = {
        "store": str(settings.store),
        "store_url": settings.store_url,
        "host_bytes": ARENA_BYTES,
        "gpu_bytes": ARENA_BYTES,
        "row_dtype": settings.row_dtype,
        "fingerprint": settings.fingerprint,
        "ranks": settings.ranks,
        "keeps_encoded": False,
        "ends_with_parent": True,
        "waits_for_disk": True,
    }
    flags = ["--model", str(settings.model), "--kv-cache-dtype", settings.kv_cache_dtype]
    flags += ["--tensor-parallel-size", str(settings.ranks)]
    flags += ["--kv-transfer-config", json.dumps(kv_transfer(connector)), "--enable-prefix-caching"]
    # Prompts are ids, answers are not read, graphs are for decoding.
    flags += ["--skip-tokenizer-init", "--enforce-eager", "--disable-log-stats"]
    if current_platform.is_cpu():
        flags += ["--max-num-seqs", "16"]
    else:
        flags += ["--gpu-memory-utilization", str(GPU_SHARE), "--block-size", str(GPU_BLOCK_SIZE)]
    new_parser: Any = FlexibleArgumentParser
    parser = AsyncEngineArgs.add_cli_args(new_parser(prog="local encoder"))
    return AsyncEngineArgs.from_cli_args(parser.parse_args([*flags, *settings.flags]))
