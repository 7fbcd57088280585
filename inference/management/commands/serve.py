"""`manage.py serve`: vLLM's OpenAI server with memory."""

import json
import os
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from config.env import Environment, variable
from config.logs import vllm_logging_config
from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

from inference.draining import requests_in_progress, run_and_drain
from inference.engine.server import choose_tokenizer, serve, server_flags, trace_flags
from memory.fingerprint import model_fingerprint
from memory.models import resolve_model, served_name

MIDDLEWARE = "inference.gateway.middleware.Gateway"


class Command(BaseCommand):
    help = "Start vLLM's OpenAI server with KV injection. Flags after -- go to vLLM and win over ours."
    requires_system_checks = "__all__"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--drain",
            type=float,
            metavar="SECONDS",
            help="when told to end, take no new requests and let those under way end, for at most so long",
        )
        parser.add_argument("vllm", nargs="*", help="vLLM's own flags, after --")

    def handle(self, *args: Any, **options: Any) -> None:
        env = settings.ENV
        if options["drain"]:
            raise SystemExit(_serve_and_drain(env, options["drain"], options["vllm"]))
        model = str(resolve_model(env.model, env.home))
        if os.path.isdir(model):
            os.environ.setdefault("HF_HUB_OFFLINE", "1")
        os.environ.setdefault("VLLM_CPU_KVCACHE_SPACE", "2")
        # Read when torch is loaded, later. API server and model share the cores: threads that wait for each other by
        # spinning, which is the default, keep the other side from running.
        os.environ.setdefault("GOMP_SPINCOUNT", "3000")
        if env.log_format == "json":
            _log_as_json(env.home)
        connector = {
            "store": str(env.store_path),
            "store_url": env.store_url,
            "store_cache_bytes": env.store_cache_bytes,
            "host_bytes": env.host_kv_bytes,
            "gpu_bytes": env.gpu_kv_bytes,
            "tenant_share": env.tenant_share,
            "row_dtype": env.kv_row_dtype,
            "ranks": env.tensor_parallel_size,
            "fingerprint": model_fingerprint(
                model, env.kv_cache_dtype, env.kv_row_dtype, ranks=env.tensor_parallel_size
            ),
        }
        flags = server_flags(
            model=model,
            served_name=served_name(env.model, env.home),
            host=env.engine_host,
            port=env.engine_port,
            kv_cache_dtype=env.kv_cache_dtype,
            connector=connector,
            middleware=MIDDLEWARE,
        )
        if env.otlp_endpoint:
            flags += trace_flags(env.otlp_endpoint)
        choose_tokenizer(model)
        serve([*flags, *options["vllm"]])


def _serve_and_drain(env: Environment, seconds: float, flags: Sequence[str]) -> int:
    """The server is a process of its own: vLLM answers signals by itself, and at once."""
    host = "127.0.0.1" if env.engine_host == "0.0.0.0" else env.engine_host
    page = f"http://{host}:{env.engine_port}/metrics"
    with TemporaryDirectory(prefix="inferscale-drain-") as folder:
        file = env.drain_file or Path(folder) / "draining"
        return run_and_drain(
            [sys.executable, sys.argv[0], "serve", "--", *flags],
            file=file,
            environment={variable("drain_file"): str(file)},
            in_progress=partial(requests_in_progress, page),
            seconds=seconds,
        )


def _log_as_json(home: Path) -> None:
    """vLLM takes a file's name."""
    file = home / "logs" / "vllm-logging.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(vllm_logging_config()))
    os.environ.setdefault("VLLM_LOGGING_CONFIG_PATH", str(file))
