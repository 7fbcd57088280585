"""Prometheus' and Grafana's files are what those take. That their metrics exist is shown where the product runs."""

import json
import shutil
import subprocess

import pytest
import yaml
from config.env import ROOT

from tests.deploy.composed import compose

DEPLOY = ROOT / "platform" / "deploy"
PROMTOOL = pytest.mark.skipif(shutil.which("promtool") is None, reason="needs Debian's package prometheus")


@PROMTOOL
@pytest.mark.parametrize(("kind", "file"), [("config", "prometheus.yml"), ("rules", "rules.yml")])
def test_prometheus_takes_it(kind: str, file: str) -> None:
    command = ["promtool", "check", kind, str(DEPLOY / "prometheus" / file)]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr


def test_every_service_with_metrics_is_scraped() -> None:
    jobs = yaml.safe_load((DEPLOY / "prometheus" / "prometheus.yml").read_text())["scrape_configs"]
    scraped = {(name, config["port"]) for job in jobs for config in job["dns_sd_configs"] for name in config["names"]}
    services = compose()["services"]
    workers = {name for name, service in services.items() if "INFERSCALE_WORKER_PORT" in service.get("environment", {})}
    assert scraped == {("web", 8080), ("engine", 8000)} | {(name, 9100) for name in workers}


def test_the_dashboards_panels_stand_side_by_side_and_all_ask_something() -> None:
    board = json.loads((DEPLOY / "grafana" / "inferscale.json").read_text())
    places = [(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in board["panels"]]
    assert len({*places}) == len(places)
    assert len({panel["id"] for panel in board["panels"]}) == len(places)
    assert all(target["expr"] for panel in board["panels"] for target in panel["targets"])
