"""A delivery that waits for a worker is not queued again, and the queue has an end: the database keeps the rest."""

from collections.abc import Sequence
from datetime import timedelta

import pytest
import redis
from config.celery import app
from django.utils import timezone
from facts import enqueue
from facts.enqueue import DELIVER
from tenants.scope import tenant_scope
from webhooks.models import Delivery
from webhooks.services import QUEUED, deliveries_send, webhook_create

from tests.api.working import work
from tests.factories import People, add_facts
from tests.webhooks.receiver import Receiver
from tests.workers.helpers import tasks_in
from workers.webhooks import deliver_due

pytestmark = pytest.mark.usefixtures("receiver")
TEXTS = ("Ann has a cat.", "Ann plays the cello.", "Ann lives in Oslo.", "Ann drinks tea.", "Ann sells honey.")


@pytest.fixture
def people(people: People, receiver: Receiver) -> People:
    webhook_create(tenant=people.tenant, url=receiver.url, name="hook", event_types=["memory_add"], actor="test")
    return people


def queued(broker: redis.Redis) -> Sequence[str]:
    tasks = tasks_in(broker, "deliver")
    assert {name for name, _ in tasks} <= {DELIVER}
    return [delivery_id for _, (_, delivery_id) in tasks]


def delivered(people: People) -> int:
    with tenant_scope(people.tenant):
        return Delivery.objects.filter(state="delivered").count()


def test_what_waits_is_not_queued_again(people: People, broker: redis.Redis) -> None:
    add_facts(people.tenant, *TEXTS)
    waiting = queued(broker)
    for _ in range(3):
        deliver_due()
    assert queued(broker) == waiting
    assert len({*waiting}) == len(TEXTS)


def test_what_failed_is_queued_once_when_it_is_due_again(
    people: People, receiver: Receiver, broker: redis.Redis
) -> None:
    receiver.statuses = [500]
    add_facts(people.tenant, TEXTS[0])
    work()
    later = timezone.now() + timedelta(minutes=1)
    for _ in range(3):
        deliveries_send(now=later)
    assert len(queued(broker)) == 1


def test_what_was_lost_is_queued_again_later(people: People, broker: redis.Redis) -> None:
    add_facts(people.tenant, *TEXTS)
    broker.flushdb()
    deliver_due()
    assert queued(broker) == []
    deliveries_send(now=timezone.now() + QUEUED)
    assert len(queued(broker)) == len(TEXTS)
    work()
    assert delivered(people) == len(TEXTS)


def test_a_message_too_many_does_nothing(people: People, receiver: Receiver, broker: redis.Redis) -> None:
    add_facts(people.tenant, *TEXTS)
    deliveries_send(now=timezone.now() + QUEUED)
    assert len(queued(broker)) == 2 * len(TEXTS)
    work()
    assert len(receiver.received) == len(TEXTS)


def test_the_queue_has_an_end_and_nothing_is_left_behind(
    people: People, broker: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(enqueue.MOST_WAITING, DELIVER, 2)
    add_facts(people.tenant, *TEXTS[:3])
    add_facts(people.tenant, *TEXTS[3:])
    assert len(queued(broker)) == 2
    deliver_due()
    assert len(queued(broker)) == 2
    done = []
    while work():
        done.append(delivered(people))
        deliver_due()
    assert done == [2, 4, 5]


def test_what_an_absent_broker_did_not_take_is_sent_once_it_is_back(
    people: People, broker: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(app.conf, "broker_url", "redis://127.0.0.1:1/0")
        add_facts(people.tenant, TEXTS[0])
    assert queued(broker) == []
    monkeypatch.setattr(enqueue, "_paused_until", 0.0)
    deliver_due()
    assert len(queued(broker)) == 1
