"""What a receiver did not take comes again, later each time, for about a day."""

from datetime import timedelta

from django.utils import timezone
from tenants.scope import tenant_scope
from webhooks.models import Delivery
from webhooks.services import (
    FIRST_DELAY,
    LONGEST_DELAY,
    MAX_ATTEMPTS,
    deliveries_expire,
    deliveries_send,
    delivery_take,
    webhook_create,
)

from tests.api.working import work
from tests.factories import People, add_facts
from tests.webhooks.receiver import Receiver
from workers.webhooks import deliver_due


def told(people: People, receiver: Receiver) -> Delivery:
    """The message about a fact, after its first attempt."""
    webhook_create(tenant=people.tenant, url=receiver.url, name="hook", event_types=["memory_add"], actor="test")
    add_facts(people.tenant, "Ann has a cat.")
    work()
    return message(people)


def message(people: People) -> Delivery:
    with tenant_scope(people.tenant):
        return Delivery.objects.get()


def let_time_pass(people: People) -> None:
    with tenant_scope(people.tenant):
        Delivery.objects.filter(state="pending").update(next_at=timezone.now() - timedelta(seconds=1))
    deliver_due()
    work()


def test_it_comes_again_with_the_same_id(people: People, receiver: Receiver) -> None:
    receiver.statuses = [500, 302]
    first = told(people, receiver)
    assert (first.state, first.attempts, first.status, first.error) == ("pending", 1, 500, "answered 500")
    assert timezone.now() < first.next_at <= timezone.now() + FIRST_DELAY
    deliver_due()
    assert work() == []
    let_time_pass(people)
    let_time_pass(people)
    last = message(people)
    assert (last.state, last.attempts, last.status, last.error) == ("delivered", 3, 204, "")
    assert {received.headers["webhook-id"] for received in receiver.received} == {str(last.pk)}


def test_it_is_given_up_in_the_end(people: People, receiver: Receiver) -> None:
    receiver.statuses = [500] * MAX_ATTEMPTS
    told(people, receiver)
    for _ in range(MAX_ATTEMPTS + 2):
        let_time_pass(people)
    assert (message(people).state, message(people).attempts) == ("failed", MAX_ATTEMPTS)
    assert len(receiver.received) == MAX_ATTEMPTS


def test_the_wait_grows_to_hours(people: People, receiver: Receiver) -> None:
    receiver.statuses = [500] * MAX_ATTEMPTS
    waits = [told(people, receiver).next_at - timezone.now()]
    for _ in range(MAX_ATTEMPTS - 2):
        let_time_pass(people)
        waits.append(message(people).next_at - timezone.now())
    assert LONGEST_DELAY / 2 - timedelta(minutes=1) < waits[-1] <= LONGEST_DELAY
    assert timedelta(hours=12) < sum(waits, timedelta()) < timedelta(hours=48)


def test_no_redirect_is_followed(people: People, receiver: Receiver) -> None:
    receiver.statuses, receiver.location = [307], receiver.url.replace("/hook", "/elsewhere")
    assert told(people, receiver).error == "answered 307"
    assert [received.path for received in receiver.received] == ["/hook?x=1"]


def test_a_receiver_that_is_away_is_named(people: People, receiver: Receiver) -> None:
    with Receiver() as gone:
        url = gone.url
    webhook_create(tenant=people.tenant, url=url, name="hook", event_types=["memory_add"], actor="test")
    add_facts(people.tenant, "Ann has a cat.")
    work()
    assert message(people).status is None
    assert message(people).error.startswith("ConnectError: [Errno 111]")


def test_of_two_workers_one_sends(people: People, receiver: Receiver) -> None:
    receiver.statuses = [500]
    delivery = told(people, receiver)
    later = timezone.now() + timedelta(hours=1)
    assert delivery_take(tenant=people.tenant, delivery_id=delivery.pk, now=later) is not None
    assert delivery_take(tenant=people.tenant, delivery_id=delivery.pk, now=later) is None
    deliveries_send(now=later)
    assert work() == []


def test_the_log_is_kept_for_thirty_days(people: People, receiver: Receiver) -> None:
    told(people, receiver)
    assert deliveries_expire(now=timezone.now() + timedelta(days=29)) == 0
    assert deliveries_expire(now=timezone.now() + timedelta(days=31)) == 1
