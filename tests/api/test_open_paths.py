"""Paths that need no key: health, schema, documentation, and what is no call at all."""

import pytest
from django.core.management import call_command
from django.db import OperationalError, connection
from django.test import Client
from pytest_django.fixtures import Settings

from tests.api.conftest import Caller


def test_a_live_process_says_so_without_its_servers(client: Client) -> None:
    response = client.get("/health/live")
    assert (response.status_code, response.json()) == (200, {"status": "ok"})


@pytest.mark.django_db
def test_ready_means_the_database_answers(client: Client) -> None:
    response = client.get("/health/ready")
    assert (response.status_code, response.json()["checks"]["database"]) == (200, "ok")


@pytest.mark.django_db
def test_a_lost_redis_is_reported_and_does_not_stop_the_service(client: Client, settings: Settings) -> None:
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    response = client.get("/health/ready")
    assert response.status_code == 200
    assert response.json() == {"status": "ok", "checks": {"database": "ok", "redis": "away"}}


def _refuse(*args: object) -> None:
    raise OperationalError("connection refused")


def test_a_lost_database_is_503_and_says_that_nothing_was_stored(owner: Caller) -> None:
    with connection.execute_wrapper(_refuse):
        status, answer = owner.post("/v3/memories/", {})
    assert (status, "Nothing was stored" in answer["detail"]) == (503, True)


@pytest.mark.django_db
def test_without_its_database_the_process_is_not_ready(client: Client) -> None:
    with connection.execute_wrapper(_refuse):
        response = client.get("/health/ready")
    assert (response.status_code, response.json()["checks"]["database"]) == (503, "away")


def test_the_schema_generates_without_warnings(tmp_path) -> None:  # type: ignore[no-untyped-def]
    target = tmp_path / "schema.yml"
    call_command("spectacular", "--validate", "--fail-on-warn", "--file", str(target))
    assert "/v3/memories/search/" in target.read_text()


def test_schema_and_docs_are_served(client: Client) -> None:
    assert b"memories_search" in client.get("/api/schema/").content
    page = client.get("/api/docs/")
    assert (page.status_code, b"/static/drf_spectacular_sidecar/" in page.content) == (200, True)


@pytest.mark.parametrize("path", ["/v1/nothing/", "/v2/memories/x/", "/v3/memories/x/y/", "/api/v1/nothing/"])
def test_a_path_that_is_no_call_is_404_in_json(client: Client, path: str) -> None:
    response = client.post(path, {}, content_type="application/json")
    assert (response.status_code, path in response.json()["detail"]) == (404, True)


def test_a_missing_slash_is_named(client: Client) -> None:
    response = client.post("/v3/memories/add", {}, content_type="application/json")
    assert (response.status_code, "ends with a slash" in response.json()["detail"]) == (404, True)
