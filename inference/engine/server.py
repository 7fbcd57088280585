"""Starts vLLM's own OpenAI server in this process."""

import json
from collections.abc import Sequence
from typing import Any

CONNECTOR_MODULE = "inference.engine.connector"


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
    transfer = {
        "kv_connector": "InferScaleConnector",
        "kv_connector_module_path": CONNECTOR_MODULE,
        "kv_role": "kv_both",
        "kv_connector_extra_config": connector,
    }
    flags = ["--model", model, "--served-model-name", served_name, "--host", host, "--port", str(port)]
    flags += ["--kv-cache-dtype", kv_cache_dtype, "--kv-transfer-config", json.dumps(transfer)]
    flags += ["--middleware", middleware, "--enable-prompt-tokens-details", "--scheduling-policy", "priority"]
    return [*flags, "--enable-prefix-caching", "--disable-uvicorn-access-log", *device_flags()]


def device_flags() -> list[str]:
    """On CPU compilation costs minutes of start-up and gains little."""
    from vllm.platforms import current_platform

    return ["--enforce-eager", "--max-num-seqs", "16"] if current_platform.is_cpu() else []


def serve(flags: Sequence[str]) -> None:
    """Run until stopped. Exits with vLLM's own message when a flag is wrong."""
    from vllm.entrypoints.cli.serve import ServeSubcommand
    from vllm.utils.argparse_utils import FlexibleArgumentParser

    command = ServeSubcommand()
    root: Any = FlexibleArgumentParser
    parser = command.subparser_init(root(prog="manage.py serve").add_subparsers())
    args = parser.parse_args(list(flags))
    command.validate(args)
    command.cmd(args)
