"""Every operation of the OpenAPI schema, called with what the schema allows and with what it forbids: no answer breaks
the schema, and none is a server error."""

from collections.abc import Callable
from typing import Any

import pytest
import schemathesis
from django.test.client import ClientHandler
from drf_spectacular.generators import SchemaGenerator
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import FailureGroup
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from tenants.models import Tenant
from tenants.services import api_key_create, project_settings_update

from tests.api.conftest import Caller

EXAMPLES = 12
CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
QUIET = [HealthCheck.function_scoped_fixture, HealthCheck.filter_too_much, HealthCheck.too_slow]


def answer(environ: dict[str, Any], start_response: Callable[..., Any]) -> list[bytes]:
    """Django without what closes its database connection between requests, which holds the test's transaction."""
    response = ClientHandler()(environ)
    start_response(f"{response.status_code} {response.reason_phrase}", list(response.items()))
    return [response.getvalue()]


SCHEMA = schemathesis.openapi.from_dict(SchemaGenerator().get_schema(request=None, public=True))  # type: ignore[no-untyped-call]
SCHEMA.app = answer
OPERATIONS: list[Any] = [found.ok() for found in SCHEMA.get_all_operations() if isinstance(found, Ok)]


@pytest.fixture
def key(tenant: Tenant) -> str:
    return api_key_create(tenant=tenant, name="all", scopes=["read", "write", "admin"], requests_per_minute=0)[1]


@pytest.fixture
def known(tenant: Tenant, key: str) -> dict[str, Any]:
    """Names that are there, for paths."""
    caller = Caller(key)
    project_settings_update(tenant=tenant, changes={"profiles_enabled": True}, actor="test")
    export = caller.post("/v1/exports/", {"schema": {}})[1]
    row = {"memory": "Alice keeps bees", "user_id": "alice"}
    hook = {"url": "https://example.com/", "name": "hook", "event_types": ["memory_add"]}
    return {
        "memory_id": caller.add("Alice keeps bees")[0],
        "event_id": export["event_id"],
        "export_id": export["id"],
        "import_id": caller.post("/v1/imports/", {"memories": [row, 7]})[1]["id"],
        "job_id": caller.post("/v2/entities/user/alice/profile/", {})[1]["job_id"],
        "webhook_id": caller.post(f"/api/v1/webhooks/projects/{tenant.pk}/", hook)[1]["webhook_id"],
        "key_id": str(api_key_create(tenant=tenant, name="other")[0].pk),
        "org_id": str(tenant.pk),
        "project_id": str(tenant.pk),
        "entity_type": "user",
        "name": "alice",
    }


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.label)
def test_an_operation(operation: Any, key: str, known: dict[str, Any]) -> None:
    allowed = operation.as_strategy(generation_mode=GenerationMode.POSITIVE)
    has_input = operation.body or operation.query or operation.path_parameters
    forbidden = operation.as_strategy(generation_mode=GenerationMode.NEGATIVE) if has_input else st.nothing()

    @seed(1)
    @settings(max_examples=EXAMPLES, database=None, suppress_health_check=QUIET, phases=[Phase.generate])
    @given(case=st.one_of(allowed, allowed, forbidden), there=st.booleans())
    def call(case: Any, there: bool) -> None:
        if there:
            case.path_parameters = {**case.path_parameters, **_named(case.path_parameters, known)}
        response = case.call(headers={"Authorization": f"Token {key}"})
        case.validate_response(response, checks=CHECKS)

    call()


def test_the_checks_find_what_breaks_the_schema(key: str, known: dict[str, Any]) -> None:
    """One call's answer is not another's."""
    case = SCHEMA["/v1/memories/{memory_id}/"]["GET"].Case(path_parameters={"memory_id": known["memory_id"]})
    response = case.call(headers={"Authorization": f"Token {key}"})
    case.validate_response(response, checks=CHECKS)
    with pytest.raises(FailureGroup):
        SCHEMA["/v1/ping/"]["GET"].Case().validate_response(response, checks=CHECKS)


def _named(parameters: dict[str, Any], known: dict[str, Any]) -> dict[str, Any]:
    return {name: known[name] for name in parameters if name in known}
