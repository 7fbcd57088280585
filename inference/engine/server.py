"""Starts vLLM's own OpenAI server in this process."""

import json
import os
from collections.abc import Sequence
from typing import Any

from memory.served import is_tokenized_by_fastokens

GPU_SHARE = 0.9  # the rest: what vLLM does not count, such as CUDA contexts
CORES_AN_API_SERVER = 4
API_SERVERS = 4
GPU_BLOCK_SIZE = 128
GRAPH_TOKENS = 160
CONNECTOR_MODULE = "inference.engine.connector"


def kv_transfer(connector: dict[str, Any]) -> dict[str, Any]:
    """vLLM's KVTransferConfig, as its fields, for our connector with this configuration of it."""
    return {
        "kv_connector": "InferScaleConnector",
        "kv_connector_module_path": CONNECTOR_MODULE,
        "kv_role": "kv_both",
        "kv_connector_extra_config": connector,
    }


def server_flags(
    *,
    model: str,
    served_name: str,
    host: str,
    port: int,
    kv_cache_dtype: str,
    connector: dict[str, Any],
    middleware: str,
) -> list[str]:
    """vLLM's command line for an engine with both plug-ins. Later flags win, so users' own go after these."""
    flags = ["--model", model, "--served-model-name", served_name, "--host", host, "--port", str(port)]
    flags += ["--tensor-parallel-size", str(connector["ranks"])]
    flags += ["--kv-cache-dtype", kv_cache_dtype, "--kv-transfer-config", json.dumps(kv_transfer(connector))]
    flags += ["--middleware", middleware, "--enable-prompt-tokens-details", "--scheduling-policy", "priority"]
    flags += ["--enable-prefix-caching", "--disable-uvicorn-access-log"]
    return [*flags, *device_flags(arena_bytes=connector["gpu_bytes"])]


def trace_flags(endpoint: str) -> list[str]:
    """vLLM's own spans go where the gateway's go: OTLP over HTTP. Before vLLM is loaded."""
    os.environ.setdefault("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "http/protobuf")
    os.environ.setdefault("OTEL_SERVICE_NAME", "inferscale-engine")
    return ["--otlp-traces-endpoint", f"{endpoint}/v1/traces"]


def device_flags(*, arena_bytes: int) -> list[str]:
    """`arena_bytes`: of each GPU, for the connector's arena, which vLLM does not count."""
    from vllm.platforms import current_platform

    if current_platform.is_cpu():  # compilation costs minutes of start-up and gains little
        return ["--enforce-eager", "--max-num-seqs", "16"]
    return gpu_flags(current_platform.get_device_total_memory(), arena_bytes, cores=os.cpu_count() or 1)


def step_graphs() -> dict[str, Any]:
    """vLLM's compilation config: CUDA graphs of whole steps, also of those that mix prompts and decodes.

    vLLM's own choice is graphs of the pieces between attention layers in steps that hold a prompt: launching those
    costs a lone request twice the time of its computing. Larger steps run without graphs: with FlashAttention 3, graphs
    of whole mixed steps make logits NaN where many requests share one (0.26, from about 190 on, with and without
    memory), and a step of so many tokens holds no more requests than that.
    """
    return {"cudagraph_mode": "FULL", "max_cudagraph_capture_size": GRAPH_TOKENS}


def gpu_flags(gpu_bytes: int, arena_bytes: int, *, cores: int) -> list[str]:
    """Raises ValueError when the arena leaves vLLM less than half of its share."""
    share = GPU_SHARE - arena_bytes / gpu_bytes
    if share < GPU_SHARE / 2:
        raise ValueError(f"an arena of {arena_bytes} bytes leaves too little of a GPU of {gpu_bytes} for the model")
    # Large blocks: with memory injected, what vLLM does for each block of a long prompt is much of what is left of the
    # time to first token. Several API servers: one saturates a core first.
    flags = ["--gpu-memory-utilization", f"{share:.3f}", "--block-size", str(GPU_BLOCK_SIZE)]
    flags += ["--compilation-config", json.dumps(step_graphs())]
    servers = max(1, min(API_SERVERS, cores // CORES_AN_API_SERVER))
    return [*flags, "--api-server-count", str(servers)]


def choose_model_runner() -> None:
    """Before vLLM is loaded. Its second runner takes 2 ms more to the first token (0.26 on an H200)."""
    os.environ.setdefault("VLLM_USE_V2_MODEL_RUNNER", "0")


def choose_tokenizer(model: str) -> None:
    """Before vLLM is loaded: fastokens, which takes a sixth of the time, where its ids are the same."""
    if "VLLM_USE_FASTOKENS" not in os.environ:
        os.environ["VLLM_USE_FASTOKENS"] = str(int(is_tokenized_by_fastokens(model)))


def serve(flags: Sequence[str]) -> None:
    """Run until stopped. Exits with vLLM's own message when a flag is wrong."""
    choose_model_runner()
    from vllm.entrypoints.cli.serve import ServeSubcommand
    from vllm.utils.argparse_utils import FlexibleArgumentParser

    command = ServeSubcommand()
    root: Any = FlexibleArgumentParser
    parser = command.subparser_init(root(prog="manage.py serve").add_subparsers())
    args = parser.parse_args(list(flags))
    command.validate(args)
    command.cmd(args)
