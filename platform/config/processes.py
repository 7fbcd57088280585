"""The processes of the product, as children of a supervisor."""

import sys
import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace

from config.env import ROOT, Environment, variable
from config.probes import answers, has_checked_itself, log_has, port_is_free
from config.supervisor import Child, ChildError, Supervisor

ENCODE, DELIVER = "encode", "deliver"
QUEUES = ("tiering", "extract", "default")
LOCAL_PASSES = 4  # in the local engine at a time: some wait for disk and database while others compute
DELIVERIES = 4  # at a time: they wait for the receivers
DJANGO = {"DJANGO_SETTINGS_MODULE": "config.settings"}


def web(env: Environment) -> Child:
    where = ("--host", env.web_host, "--port", str(env.web_port))
    how = ("--log-level", "info", "--no-access-log")  # our own line a request has the request's id
    command = (sys.executable, "-m", "uvicorn", "config.asgi:application", *where, *how)
    return Child(
        "web", command, answers(f"{web_url(env)}/health/live"), 60, {"DJANGO_SETTINGS_MODULE": "config.web_settings"}
    )


def worker(env: Environment, supervisor: Supervisor) -> Child:
    """Beat runs inside, which is right for the one worker of one machine."""
    beat = ("--beat", "--schedule", str(env.home / "beat-schedule"))
    queues = QUEUES if env.encoder == "local" else (ENCODE, *QUEUES)
    return _celery("worker", queues, env.encode_max_in_flight, supervisor, *beat, ready_seconds=120)


def encoder(env: Environment, supervisor: Supervisor) -> Child:
    """The worker that has an engine of its own. It is ready once that engine passed its golden check."""
    child = _celery("encoder", (ENCODE,), LOCAL_PASSES, supervisor, ready_seconds=600)
    devices = {"CUDA_VISIBLE_DEVICES": env.encoder_devices} if env.encoder_devices else {}
    return replace(child, environment={**child.environment, **devices})


def deliverer(supervisor: Supervisor) -> Child:
    """The worker that waits for receivers of webhooks, so that no other work does. The port is the first worker's."""
    threads = ("--pool", "threads")  # a process each would take 250 MB to wait
    child = _celery("deliverer", (DELIVER,), DELIVERIES, supervisor, *threads, ready_seconds=120)
    return replace(child, environment={**child.environment, variable("worker_port"): "0"})


def workers(env: Environment, supervisor: Supervisor) -> list[Child]:
    """All that run tasks."""
    encoders = [encoder(env, supervisor)] if env.encoder == "local" else []
    return [worker(env, supervisor), deliverer(supervisor), *encoders]


def _celery(
    name: str, queues: Sequence[str], concurrency: int, supervisor: Supervisor, *options: str, ready_seconds: float
) -> Child:
    where = ("--hostname", f"{name}@%h", "--queues", ",".join(queues), "--concurrency", str(concurrency))
    common = ("--loglevel", "INFO", "--without-mingle", "--without-gossip")
    command = (sys.executable, "-m", "celery", "-A", "config", "worker", *where, *options, *common)
    return Child(name, command, log_has(supervisor.log(name), " ready."), ready_seconds, DJANGO)


def engine(env: Environment, *options: str) -> Child:
    """Options go to vLLM."""
    command = (sys.executable, str(ROOT / "manage.py"), "serve", *options)
    return Child("engine", command, has_checked_itself(f"{env.engine_base_url}/health"), 600, DJANGO)


def web_url(env: Environment) -> str:
    host = "127.0.0.1" if env.web_host in ("0.0.0.0", "::") else env.web_host
    return f"http://{f'[{host}]' if ':' in host else host}:{env.web_port}"


def check_ports(env: Environment) -> None:
    """Said before minutes are spent on start-up."""
    for field, host, port in (
        ("web_port", env.web_host, env.web_port),
        ("engine_port", env.engine_host, env.engine_port),
    ):
        if not port_is_free(host, port):
            raise ChildError(f"port {port} of {host} is in use: stop what uses it or set {variable(field)}")


def start_all(env: Environment, supervisor: Supervisor, stop: threading.Event) -> Iterator[str]:
    """Starts web, workers and engine at once; their names as they become ready, up to when `stop` is set.

    Raises ChildError.
    """
    check_ports(env)
    children = [web(env), *workers(env, supervisor), engine(env)]
    for child in reversed(children):
        supervisor.start(child)
    for child in children:
        supervisor.wait_ready(child.name, stop)
        if stop.is_set():
            return
        yield child.name
