"""Kubernetes' manifests are valid, and run what docker-compose.yml runs."""

import shlex
from typing import Any

import kubernetes_validate
import pytest
import yaml
from config.env import ROOT

from tests.deploy.composed import compose, filled

FOLDER = ROOT / "platform" / "deploy" / "kubernetes"
VERSION = "1.34"


def documents() -> list[dict[str, Any]]:
    names = yaml.safe_load((FOLDER / "kustomization.yaml").read_text())["resources"]
    return [document for name in names for document in yaml.safe_load_all((FOLDER / name).read_text())]


def pods() -> dict[str, dict[str, Any]]:
    """What each workload's pods are made from."""
    found = [document for document in documents() if "template" in document.get("spec", {})]
    return {document["metadata"]["name"]: document["spec"]["template"]["spec"] for document in found}


def test_every_file_is_named() -> None:
    names = yaml.safe_load((FOLDER / "kustomization.yaml").read_text())["resources"]
    assert {*names, "kustomization.yaml"} == {path.name for path in FOLDER.iterdir()}


def test_every_document_is_valid() -> None:
    for document in documents():
        kubernetes_validate.validate(document, VERSION, strict=True)


def test_a_document_that_is_not_would_be_found() -> None:
    document = documents()[0] | {"kind": "Deployment", "apiVersion": "apps/v1", "spec": {"replica": 2}}
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(document, VERSION, strict=True)


def test_containers_run_what_compose_runs() -> None:
    services = compose()["services"]
    for name, pod in pods().items():
        (container,) = pod["containers"]
        assert container["command"] == shlex.split(filled(services[name]["command"], {})), name
        given = {one["name"]: one["value"] for one in container.get("env", ())}
        composed = services[name]["environment"]
        different = {key: value for key, value in given.items() if str(composed.get(key)) != value}
        known = {"INFERSCALE_ENGINE_URLS", "WEB_URLS"}  # variables there, whose defaults are these
        assert {key: filled(composed[key], {}) for key in different} == different
        assert different.keys() <= known
    assert pods().keys() == {name for name in services if "profiles" not in services[name]} - {"postgres", "redis"}


def test_pods_have_no_more_rights_than_they_need() -> None:
    for name, pod in pods().items():
        (container,) = pod["containers"]
        assert pod["securityContext"]["runAsNonRoot"], name
        assert pod["automountServiceAccountToken"] is False
        assert container["securityContext"]["readOnlyRootFilesystem"], name
        assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
        assert "memory" in container["resources"]["limits"]
        named = {volume["name"] for volume in pod["volumes"]}
        assert {mount["name"] for mount in container["volumeMounts"]} == named


def test_pods_have_longer_to_end_than_the_process_takes_to_drain() -> None:
    engine = pods()["engine"]
    command = engine["containers"][0]["command"]
    drains = float(command[command.index("--drain") + 1])
    assert engine["terminationGracePeriodSeconds"] > drains + 60
    web = pods()["web"]
    command = web["containers"][0]["command"]
    assert web["terminationGracePeriodSeconds"] > float(command[command.index("--timeout-graceful-shutdown") + 1])


def test_selectors_find_the_pods() -> None:
    labels = {
        document["metadata"]["name"]: document["spec"]["template"]["metadata"]["labels"]
        for document in documents()
        if "template" in document.get("spec", {})
    }
    for document in documents():
        if document["kind"] == "Service":
            assert document["spec"]["selector"] == labels[document["metadata"]["name"]]
        elif document["kind"] in ("Deployment", "StatefulSet"):
            assert document["spec"]["selector"]["matchLabels"] == labels[document["metadata"]["name"]]
