"""`manage.py serve`: vLLM's OpenAI server with memory."""

import os
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

from inference.engine.server import serve, server_flags
from memory.fingerprint import model_fingerprint
from memory.models import resolve_model, served_name

MIDDLEWARE = "inference.gateway.middleware.Gateway"


class Command(BaseCommand):
    help = "Start vLLM's OpenAI server with KV injection. Flags after -- go to vLLM and win over ours."
    requires_system_checks = "__all__"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("vllm", nargs="*", help="vLLM's own flags, after --")

    def handle(self, *args: Any, **options: Any) -> None:
        env = settings.ENV
        model = str(resolve_model(env.model, env.home))
        if os.path.isdir(model):
            os.environ.setdefault("HF_HUB_OFFLINE", "1")
        os.environ.setdefault("VLLM_CPU_KVCACHE_SPACE", "2")
        # Read when torch is loaded, later. API server and model share the cores: threads that wait for each other by
        # spinning, which is the default, keep the other side from running.
        os.environ.setdefault("GOMP_SPINCOUNT", "3000")
        connector = {
            "store": str(env.store_path),
            "host_bytes": env.host_kv_bytes,
            "gpu_bytes": env.gpu_kv_bytes,
            "tenant_share": env.tenant_share,
            "row_dtype": env.kv_row_dtype,
            "fingerprint": model_fingerprint(model, env.kv_cache_dtype, env.kv_row_dtype),
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
        serve([*flags, *options["vllm"]])
