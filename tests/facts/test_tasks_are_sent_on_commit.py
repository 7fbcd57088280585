import json
from collections.abc import Iterator

import pytest
import redis
from django.conf import settings
from django.db import transaction
from facts.services import fact_delete, fact_update
from tenants.scope import tenant_scope

from tests.factories import People, add_facts, encode_fact

pytestmark = pytest.mark.django_db(transaction=True)
QUEUES = ("encode", "tiering")


@pytest.fixture
def queues() -> Iterator[redis.Redis]:
    with redis.Redis.from_url(settings.REDIS_URL) as client:
        client.delete(*QUEUES)
        yield client
        client.delete(*QUEUES)


def sent(queues: redis.Redis) -> list[tuple[str, ...]]:
    """Task names with their arguments, in no order; the queues are empty afterwards."""
    found = []
    for queue in QUEUES:
        while isinstance(raw := queues.lpop(queue), bytes):
            headers = json.loads(raw)["headers"]
            found.append((headers["task"], headers["argsrepr"]))
    return sorted(found)


def encode_task(people: People, pk: object) -> tuple[str, str]:
    return "workers.encode.encode_fact", f"['{people.tenant.pk}', '{pk}']"


def drop_task(people: People, pk: object) -> tuple[str, str]:
    return "workers.tiering.drop_stale", f"['{people.tenant.pk}', '{pk}']"


def test_an_added_fact_is_sent_to_be_encoded_and_a_known_one_is_not(people: People, queues: redis.Redis) -> None:
    fact = add_facts(people.tenant, "Likes tea.")[0]
    assert sent(queues) == [encode_task(people, fact.pk)]
    add_facts(people.tenant, "Likes tea.")
    assert sent(queues) == []


def test_nothing_is_sent_before_the_commit(people: People, queues: redis.Redis) -> None:
    with transaction.atomic():
        add_facts(people.tenant, "Likes tea.")
        assert sent(queues) == []
    assert len(sent(queues)) == 1


def test_a_change_sends_the_fact_and_those_encoded_behind_it(people: People, queues: redis.Redis) -> None:
    with tenant_scope(people.tenant):
        first, second = add_facts(people.tenant, "first", "second")
        encode_fact(second, context=[first])
        sent(queues)
        fact_update(fact=first, text="changed")
        wanted = [encode_task(people, first.pk), encode_task(people, second.pk), drop_task(people, first.owner_id)]
        assert sent(queues) == sorted(wanted)
        encode_fact(second, context=[fact_update(fact=first, text="once more")])
        sent(queues)
        fact_delete(fact=first)
        assert sent(queues) == sorted([encode_task(people, second.pk), drop_task(people, first.owner_id)])
