"""`manage.py bench stack`: worker and engine with any shape, other kinds run against them, all stopped again."""

import os
import shlex
import subprocess
import sys
from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from typing import Any

from config import processes
from config.env import ROOT, variable
from config.services import ServiceError, Services
from config.supervisor import ChildError, Supervisor, stop_signals
from django.conf import settings
from django.core.management import call_command
from rich.console import Console

from inference.bench.errors import BenchError
from inference.bench.shapes import SHAPES, make_shape, shape_named
from memory.models import DEMO

HELP = "start worker and engine (random weights for a shape), run other kinds against them, stop everything"
NO_WEIGHTS = ("--load-format", "dummy")


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--shape", help=f"{', '.join(SHAPES)} or {DEMO} (the configured model)")
    parser.add_argument(
        "--run",
        action="append",
        default=[],
        metavar="KIND...",
        help='a kind with its options, such as "latency --k 50"; may be given several times; none: until Ctrl-C',
    )
    parser.add_argument("vllm", nargs="*", help="vLLM's own flags, after --")


def run(options: Mapping[str, Any], console: Console) -> None:
    flags = list(options["vllm"])
    if options["shape"] and options["shape"] != DEMO:
        folder = make_shape(shape_named(options["shape"]), settings.ENV.home)
        os.environ[variable("model")] = str(folder)  # what this process starts reads it
        flags = [*NO_WEIGHTS, *flags]
    elif options["shape"]:
        os.environ[variable("model")] = DEMO
    os.environ[variable("encoder_flags")] = shlex.join(flags)
    try:
        _run_all(flags, options["run"], console)
    except (ChildError, ServiceError) as error:
        raise BenchError(str(error)) from error


def _run_all(flags: Sequence[str], kinds: Sequence[str], console: Console) -> None:
    """Every kind runs, whatever became of those before it. Raises BenchError naming those that failed."""
    env = settings.ENV
    with stop_signals() as stop, Services(env).hold(), Supervisor(env.home / "logs") as supervisor:
        call_command("migrate", verbosity=0, skip_checks=False)
        processes.check_ports(env)
        children = [*processes.workers(env, supervisor), processes.engine(env, "--", *flags)]
        for child in reversed(children):
            supervisor.start(child)
        for child in children:
            supervisor.wait_ready(child.name, stop)
            if stop.is_set():
                return
            console.print(f"{child.name} is up, log in {supervisor.log(child.name)}", soft_wrap=True)
        if not kinds:
            supervisor.wait(stop)
        failed = []
        for kind in kinds:
            command = [sys.executable, str(ROOT / "manage.py"), "bench", *shlex.split(kind)]
            console.print(f"bench {kind}", soft_wrap=True, markup=False)
            if subprocess.run(command, check=False).returncode != 0:
                failed.append(kind)
            supervisor.check()
            if stop.is_set():
                return
    if failed:
        raise BenchError(f"failed: {'; '.join(failed)}")
