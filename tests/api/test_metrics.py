"""What the web process counts of itself."""

import logging

import pytest
from django.test import Client
from prometheus_client.parser import text_string_to_metric_families

from tests.api.conftest import Caller


def counted(client: Client) -> dict[tuple[str, str, str], float]:
    """Requests by method, view and status."""
    response = client.get("/metrics")
    assert response["Content-Type"].startswith("text/plain")
    families = {family.name: family for family in text_string_to_metric_families(response.content.decode())}
    samples = families["inferscale_web_requests"].samples
    return {
        (sample.labels["method"], sample.labels["view"], sample.labels["status"]): sample.value
        for sample in samples
        if sample.name.endswith("_total")
    }


def test_requests_are_counted_by_view_and_status_not_by_path(owner: Caller, client: Client) -> None:
    before = counted(client)
    owner.client.get("/v1/memories/not-an-id/")
    owner.client.get("/v1/memories/another/")
    client.get("/v1/ping/")
    client.get("/nothing/at/all")
    after = counted(client)
    new = {key: value - before.get(key, 0) for key, value in after.items() if value != before.get(key, 0)}
    assert new.pop(("GET", "metrics", "200")) == 1
    assert new == {("GET", "memory", "400"): 2, ("GET", "ping", "401"): 1, ("GET", "none", "404"): 1}


def test_a_strange_method_is_no_name_of_its_own(client: Client) -> None:
    client.generic("BREW", "/health/live")
    assert "BREW" not in {method for method, *_ in counted(client)}


def test_every_request_is_told_but_those_of_machines(client: Client, caplog: pytest.LogCaptureFixture) -> None:
    logger = logging.getLogger("api")
    logger.addHandler(caplog.handler)
    try:
        client.get("/v1/ping/?token=secret")
        client.get("/health/live")
        client.get("/metrics")
    finally:
        logger.removeHandler(caplog.handler)
    (told,) = (record for record in caplog.records if record.name == "api.request_ids")
    assert told.getMessage() == "GET /v1/ping/ 401"
