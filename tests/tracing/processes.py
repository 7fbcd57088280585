"""The product's processes with their spans' collector."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

import redis
from config.env import Environment
from config.processes import engine, web, workers
from config.supervisor import Supervisor
from django.conf import settings
from django.db import connection

from tests.databases import database_url
from tests.tracing.collector import Collector
from tests.workers.troubled_engine import free_port


@contextmanager
def running(
    folder: Path, collector: Collector, variables: Mapping[str, str], *, with_engine: bool
) -> Iterator[Environment]:
    """Web, a worker and perhaps an engine, on the test's database; the blobs are in `folder`."""
    with redis.Redis.from_url(settings.REDIS_URL) as broker:
        broker.flushdb()
    ports = {"web_port": free_port(), "engine_port": free_port()}
    env = settings.ENV.model_copy(update={**ports, "home": folder, "encoder": "engine", "engine_url": ""})
    own = {
        "DATABASE_URL": database_url(str(connection.settings_dict["NAME"])),
        "REDIS_URL": settings.REDIS_URL,
        "INFERSCALE_HOME": str(settings.ENV.home),
        "INFERSCALE_STORE": str(folder / "blobs"),
        "INFERSCALE_ENGINE_PORT": str(env.engine_port),
        "VLLM_CPU_KVCACHE_SPACE": "1",
        "OTEL_EXPORTER_OTLP_ENDPOINT": f"{collector.url}/",
        "OTEL_BSP_SCHEDULE_DELAY": "200",
        **variables,
    }
    with ExitStack() as stack:
        supervisor = stack.enter_context(Supervisor(folder / "logs"))
        engines = [engine(env, "--", "--max-model-len", "2048")] if with_engine else []
        for child in (*engines, web(env), *workers(env, supervisor)):
            supervisor.start(replace(child, environment={**child.environment, **own}))
            supervisor.wait_ready(child.name)
        yield env
