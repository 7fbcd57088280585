"""Every response names its request."""

import pytest
from django.test import AsyncClient, Client

from tests.api.conftest import Caller


def test_the_callers_own_id_comes_back(owner: Caller) -> None:
    assert owner.client.get("/v1/ping/", headers={"X-Request-ID": "abc-1"})["X-Request-ID"] == "abc-1"


def test_errors_and_open_paths_have_one_too(client: Client) -> None:
    ids = {client.get(path)["X-Request-ID"] for path in ("/health/live", "/v1/ping/", "/v1/nothing/", "/nothing")}
    assert len(ids) == 4


@pytest.mark.parametrize("asked", ["a b", "x" * 129, "a;b", ""])
def test_an_id_that_could_do_harm_is_replaced(client: Client, asked: str) -> None:
    assert client.get("/health/live", headers={"X-Request-ID": asked})["X-Request-ID"] != asked


@pytest.mark.asyncio
async def test_under_asgi_as_well(async_client: AsyncClient) -> None:
    response = await async_client.get("/health/live", headers={"X-Request-ID": "abc-2"})
    assert response["X-Request-ID"] == "abc-2"
