"""A real Prometheus with the product's own configuration: it finds every process and can evaluate every rule."""

import json
import re
import shutil
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import httpx
import pytest
import yaml
from config.env import ROOT
from config.probes import answers
from config.supervisor import Child, Supervisor
from tenants.services import api_key_create, tenant_create

from tests.deploy.deployment import ENGINES, WEB, WORKERS, Deployment
from tests.workers.running.processes import until
from tests.workers.troubled_engine import free_port

pytestmark = [
    pytest.mark.engine,
    pytest.mark.django_db(transaction=True),
    pytest.mark.timeout(1800),
    pytest.mark.skipif(shutil.which("prometheus") is None, reason="needs Debian's package prometheus"),
]
FOLDER = ROOT / "platform" / "deploy"
NAMES = re.compile(r"\b(?:inferscale|vllm)[:_]\w+")


@pytest.fixture(scope="module")
def prometheus(deployment: Deployment, tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """Its API. Addresses stand in the configuration, where containers have a name server."""
    chat_once(deployment)
    folder = tmp_path_factory.mktemp("prometheus")
    config: dict[str, Any] = yaml.safe_load((FOLDER / "prometheus" / "prometheus.yml").read_text())
    config["global"] = {"scrape_interval": "2s", "evaluation_interval": "2s"}
    config["rule_files"] = [str(FOLDER / "prometheus" / name) for name in config["rule_files"]]
    for job in config["scrape_configs"]:
        asked = job.pop("dns_sd_configs")
        found = [target for one in asked for name in one["names"] for target in targets(deployment, name, one["port"])]
        job["static_configs"] = [{"targets": found}]
    (folder / "prometheus.yml").write_text(yaml.safe_dump(config))
    url = f"http://127.0.0.1:{free_port()}"
    command = (
        "prometheus",
        f"--config.file={folder / 'prometheus.yml'}",
        f"--storage.tsdb.path={folder / 'data'}",
        f"--web.listen-address={url.removeprefix('http://')}",
    )
    with Supervisor(folder) as supervisor, httpx.Client(base_url=url, timeout=60) as client:
        supervisor.start(Child("prometheus", command, answers(f"{url}/-/ready"), 60))
        supervisor.wait_ready("prometheus")
        yield client


def chat_once(deployment: Deployment) -> None:
    """What nobody has asked for yet has no sample."""
    _, key = api_key_create(tenant=tenant_create(name="Home", slug=uuid4().hex), name="app")
    with httpx.Client(base_url=deployment.url, timeout=300, headers={"authorization": f"Bearer {key}"}) as client:
        add = {"messages": [{"role": "user", "content": "Ada keeps bees."}], "user_id": "ada", "infer": False}
        client.post("/v3/memories/add/", json=add, headers={"authorization": f"Token {key}"}).raise_for_status()
        chat = {"model": deployment.model, "messages": [{"role": "user", "content": "Bees?"}], "max_tokens": 4}
        client.post("/v1/chat/completions", json={**chat, "user": "ada"}).raise_for_status()


def targets(deployment: Deployment, name: str, port: int) -> list[str]:
    names = [started for started in (*WEB, *ENGINES, *WORKERS) if started.rstrip("0123456789") == name]
    return [f"{deployment.service(started).address}:{port}" for started in names]


def test_every_process_is_scraped(prometheus: httpx.Client) -> None:
    def health() -> list[str]:
        data = prometheus.get("/api/v1/targets").raise_for_status().json()["data"]
        return [target["health"] for target in data["activeTargets"]]

    until(lambda: health() == ["up"] * len((*WEB, *ENGINES, *WORKERS)), "all are up", 120)


def test_every_rule_can_be_evaluated(prometheus: httpx.Client) -> None:
    def rules() -> list[dict[str, Any]]:
        groups = prometheus.get("/api/v1/rules").raise_for_status().json()["data"]["groups"]
        return [rule for group in groups for rule in group["rules"]]

    until(lambda: all(rule["health"] != "unknown" for rule in rules()), "all have been evaluated", 60)
    assert [(rule["name"], rule.get("lastError")) for rule in rules() if rule["health"] != "ok"] == []


def test_every_name_in_rules_and_dashboard_has_been_scraped(prometheus: httpx.Client, deployment: Deployment) -> None:
    rules = yaml.safe_load((FOLDER / "prometheus" / "rules.yml").read_text())["groups"]
    board = json.loads((FOLDER / "grafana" / "inferscale.json").read_text())
    texts = [rule["expr"] for group in rules for rule in group["rules"]]
    texts += [target["expr"] for panel in board["panels"] for target in panel["targets"]]
    asked = {name for text in texts for name in NAMES.findall(text)}

    def unknown() -> set[str]:
        known = prometheus.get("/api/v1/label/__name__/values").raise_for_status().json()["data"]
        return asked - {*known}

    until(lambda: not unknown(), f"known: {sorted(unknown())}", 60)


def test_every_question_of_the_dashboard_is_understood(prometheus: httpx.Client) -> None:
    board = json.loads((FOLDER / "grafana" / "inferscale.json").read_text())
    for panel in board["panels"]:
        for target in panel["targets"]:
            query = target["expr"].replace("$__rate_interval", "1m")
            answer = prometheus.get("/api/v1/query", params={"query": query})
            assert answer.status_code == 200, f"{panel['title']}: {answer.text}"
