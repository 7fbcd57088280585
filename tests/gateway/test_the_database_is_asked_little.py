"""A chat costs two short queries; a connection that the database closed meanwhile costs the client nothing."""

from collections.abc import Iterator

import psycopg
import pytest
from django.db import OperationalError, connection
from django.test.utils import CaptureQueriesContext
from tenants.models import Tenant

from inference.gateway.runtime import Runtime
from inference.gateway.threads import _connected
from tests.factories import add_facts
from tests.gateway.helpers import ask, chat_key_of, facts_in


@pytest.fixture
def own_connection(transactional_db: None) -> Iterator[None]:
    """One that may be closed under the test."""
    yield
    connection.close()


def server_process() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        return int(cursor.fetchone()[0])


def end_server_process(pid: int) -> None:
    parameters = connection.get_connection_params()
    known = {name: parameters[name] for name in ("dbname", "user", "password", "host", "port") if name in parameters}
    with psycopg.connect(**known, autocommit=True) as other:
        other.execute("SELECT pg_terminate_backend(%s, 5000)", (pid,))


def test_key_and_owner_are_one_query_each(runtime: Runtime, tenant: Tenant) -> None:
    add_facts(tenant, "Bob lives in Lisbon.")
    key = chat_key_of(tenant)
    ask(runtime, key, user="alice")
    with CaptureQueriesContext(connection) as queries:
        assert ask(runtime, key, user="alice").facts == 1
    assert len(queries) == 2


def test_words_are_one_more_where_facts_have_to_be_chosen(runtime: Runtime, tenant: Tenant) -> None:
    add_facts(tenant, "Bob lives in Lisbon.", "Ann has a parrot.", "Xq77-b lives.")
    key = chat_key_of(tenant)
    memory = {"user_id": "alice", "top_k": 2}
    ask(runtime, key, memory=memory)
    with CaptureQueriesContext(connection) as queries:
        plan = ask(runtime, key, memory=memory, messages=[{"role": "user", "content": "Who is xq77-b?"}])
    assert plan.facts == 2
    assert facts_in(plan)[-1] == "Xq77-b lives."
    assert len(queries) == 3


def test_a_connection_closed_by_the_database_is_replaced(own_connection: None) -> None:
    first = _connected(server_process)
    end_server_process(first)
    second = _connected(server_process)
    assert second != first
    assert _connected(server_process) == second


def test_other_errors_of_the_database_are_not_repeated(own_connection: None) -> None:
    calls = []

    def failing() -> None:
        calls.append(server_process())
        raise OperationalError("out of memory")

    with pytest.raises(OperationalError, match="out of memory"):
        _connected(failing)
    assert len(calls) == 1


def test_a_database_that_is_away_is_an_error(own_connection: None, monkeypatch: pytest.MonkeyPatch) -> None:
    connection.close()
    with monkeypatch.context() as patch:
        patch.setitem(connection.settings_dict, "NAME", "absent")
        with pytest.raises(OperationalError, match="absent"):
            _connected(server_process)
