"""docker-compose.yml is valid, agrees with the product, and gives away nothing it need not."""

import importlib.util
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from config.env import ROOT, SECRET_FIELDS, Environment, variable
from django.core.management import get_commands

from tests.deploy.composed import FILE, VARIABLE, compose, filled

SERVICES: dict[str, dict[str, Any]] = compose()["services"]
OURS = [name for name, service in SERVICES.items() if "inferscale" in service["image"] and name != "proxy"]
# addresses, ports and folders, which the file itself decides, and what only one kind of process is told
DECIDED = {"home", "store", "web_host", "web_port", "engine_host", "engine_port", "worker_host", "worker_port"}
DECIDED |= {"drain_file", "encoder", "encoder_devices", *SECRET_FIELDS}


@pytest.mark.skipif(shutil.which("docker-compose") is None, reason="needs Debian's package docker-compose")
def test_it_is_valid() -> None:
    """Services of all profiles are looked at, whichever are chosen."""
    command = ["docker-compose", "--file", str(FILE), "config", "--services"]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert {*result.stdout.split()} == SERVICES.keys()


def test_every_variable_stands_in_the_readme() -> None:
    readme = (ROOT / "README.md").read_text()
    names = {match[1] for match in VARIABLE.finditer(FILE.read_text())}
    assert sorted(name for name in names if f"| `{name}` |" not in readme) == []


def test_every_setting_reaches_every_process_of_the_product() -> None:
    wanted = {variable(field) for field in Environment.model_fields if field not in DECIDED}
    assert [(name, missing) for name in OURS if (missing := wanted - {*SERVICES[name]["environment"]})] == []


def test_commands_are_the_products_own() -> None:
    for name in OURS:
        words = filled(str(SERVICES[name]["command"]), {}).split()
        assert words[0] == "python3", name
        if words[1] == "-m":
            assert importlib.util.find_spec(words[2]) is not None, name
        else:
            assert words[1] == "manage.py", name
            assert words[2] in get_commands(), name


def test_all_queues_have_a_worker() -> None:
    from config.celery import app

    sent_to = {route["queue"] for route in app.conf.task_routes.values()} | {app.conf.task_default_queue}
    commands = [str(service.get("command")) for service in SERVICES.values() if "profiles" not in service]
    assert {match[1] for command in commands for match in re.finditer(r"--queues (\S+)", command)} == sent_to


def test_secrets_are_files_and_stand_nowhere() -> None:
    for name, service in SERVICES.items():
        given = {key: value for key, value in service.get("environment", {}).items() if value is not None}
        secret = {key for key in given if re.search("PASSWORD|SECRET|TOKEN|_KEY", key)}
        assert [key for key in secret if not key.endswith("_FILE")] == [], name
        assert all(given[key].startswith("/run/secrets/") for key in secret), name
    made = subprocess.run(["make", "-n", "secrets"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert all(name in made for name in compose()["secrets"])


def test_secrets_are_made_once(tmp_path: Path) -> None:
    command = ["make", "secrets", f"SECRETS={tmp_path / 'secrets'}"]
    made = []
    for _ in range(2):
        subprocess.run(command, cwd=ROOT, check=True)
        made.append({file.name: file.read_text() for file in (tmp_path / "secrets").iterdir()})
    assert made[0] == made[1]
    assert set(made[0]) == set(compose()["secrets"])
    assert len({*made[0].values()}) == len(made[0])
    assert all(len(text) > 60 for text in made[0].values())
    assert (tmp_path / "secrets").stat().st_mode & 0o77 == 0


@pytest.mark.parametrize("name", SERVICES)
def test_a_service_has_no_more_rights_than_it_needs(name: str) -> None:
    service = SERVICES[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["logging"]["options"].keys() == {"max-size", "max-file"}
    assert service["deploy"]["resources"]["limits"]["memory"]
    assert (
        "inferscale" in service["image"] or "user" in service or name in ("prometheus", "grafana")
    )  # theirs are not root
    assert name == "migrate" or service["healthcheck"]["test"][0] == "CMD"
    assert "ports" not in service or name in ("proxy", "grafana")


def test_only_a_database_that_is_there_is_used() -> None:
    for name in OURS:
        needs = {other: how["condition"] for other, how in SERVICES[name]["depends_on"].items()}
        expected = {"migrate": "service_completed_successfully", "redis": "service_healthy"}
        assert needs == ({"postgres": "service_healthy"} if name == "migrate" else expected), name
