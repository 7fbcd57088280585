"""Which workers run, by who encodes: each queue has one, and a local engine a worker to itself."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from config.env import Environment
from config.processes import workers
from config.supervisor import Child, Supervisor

OURS = {"encode", "tiering", "extract", "default"}  # that wait for nobody outside
DELIVERER = {"deliverer": {"deliver"}}


def queues(child: Child) -> set[str]:
    return set(child.command[child.command.index("--queues") + 1].split(","))


def started(tmp_path: Path, **settings: str) -> dict[str, Child]:
    env = Environment(home=tmp_path, **settings)  # type: ignore[arg-type]
    return {child.name: child for child in workers(env, Supervisor(tmp_path))}


def test_the_engines_encodes_are_every_workers_task(tmp_path: Path) -> None:
    children = started(tmp_path)
    assert {name: queues(child) for name, child in children.items()} == {"worker": OURS, **DELIVERER}


def test_a_local_engines_worker_does_nothing_else(tmp_path: Path) -> None:
    children = started(tmp_path, encoder="local", encoder_devices="1")
    found = {name: queues(child) for name, child in children.items()}
    assert found == {"worker": OURS - {"encode"}, "encoder": {"encode"}, **DELIVERER}
    assert children["encoder"].environment["CUDA_VISIBLE_DEVICES"] == "1"
    assert "CUDA_VISIBLE_DEVICES" not in children["worker"].environment
    assert [name for name, child in children.items() if "--beat" in child.command] == ["worker"]


def test_two_workers_do_not_open_one_port(tmp_path: Path) -> None:
    children = started(tmp_path, worker_port="9100")
    assert children["deliverer"].environment["INFERSCALE_WORKER_PORT"] == "0"
    assert "INFERSCALE_WORKER_PORT" not in children["worker"].environment


def test_without_devices_the_encoder_sees_what_this_process_does(tmp_path: Path) -> None:
    assert "CUDA_VISIBLE_DEVICES" not in started(tmp_path, encoder="local")["encoder"].environment


@pytest.mark.parametrize(("encoder", "pool"), [("engine", "prefork"), ("local", "threads")])
def test_workers_fork_only_where_no_engine_is_in_them(encoder: str, pool: str) -> None:
    code = "from config.celery import app; import json; print(json.dumps(app.conf.worker_pool))"
    environment = os.environ | {"INFERSCALE_ENCODER": encoder, "DJANGO_SETTINGS_MODULE": "config.settings"}
    path = os.pathsep.join(filter(None, sys.path))
    command = [sys.executable, "-c", code]
    ran = subprocess.run(command, env={**environment, "PYTHONPATH": path}, check=True, capture_output=True, text=True)
    assert json.loads(ran.stdout) == pool
