"""Who fails to log in too often has to wait, is told until when, and is in the log; nobody else is kept out."""

from datetime import timedelta
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from axes.models import AccessAttempt, AccessFailureLog, AccessLog
from django.conf import settings
from django.contrib.auth.models import User
from django.test import AsyncClient, Client
from django.urls import reverse
from django.utils import timezone
from tenants.logins import logins_expire
from tenants.services import api_key_create
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from tests.deploy.composed import FILE
from tests.factories import People

LIMIT = settings.AXES_FAILURE_LIMIT
PASSWORD = "a long password"


@pytest.fixture
def ada(people: People) -> User:
    return User.objects.create_user("ada", password=PASSWORD)


def log_in(name: str, password: str = "wrong", *, address: str = "192.0.2.1", path: str = "/login/") -> Any:
    return Client(REMOTE_ADDR=address).post(path, {"username": name, "password": password})


def fail(times: int, name: str = "ada", *, address: str = "192.0.2.1") -> None:
    for _ in range(times):
        log_in(name, address=address)


def test_a_few_slips_keep_nobody_out(ada: User) -> None:
    fail(LIMIT - 1)
    assert log_in("ada", PASSWORD).status_code == 302
    fail(LIMIT - 1)
    assert log_in("ada", PASSWORD).status_code == 302


def test_an_account_is_locked_for_every_address_and_the_reason_is_told(ada: User) -> None:
    for number in range(LIMIT):
        fail(1, address=f"192.0.2.{number}")
    answer = log_in("ada", PASSWORD, address="198.51.100.7")
    assert answer.status_code == 429
    assert 800 < int(answer["retry-after"]) <= 900
    text = answer.content.decode()
    assert "Too many failed attempts" in text
    assert f"{timezone.now() + timedelta(minutes=15):%H:}" in text
    assert " UTC" in text
    assert answer["content-security-policy"].startswith("default-src 'self'")


def test_an_address_is_locked_for_every_account(ada: User) -> None:
    for number in range(LIMIT):
        fail(1, f"nobody {number}", address="192.0.2.66")
    assert log_in("ada", PASSWORD, address="192.0.2.66").status_code == 429
    assert log_in("ada", PASSWORD, address="192.0.2.67").status_code == 302


def test_it_opens_again_and_further_attempts_do_not_put_that_off(ada: User) -> None:
    fail(LIMIT)
    AccessAttempt.objects.update(attempt_time=timezone.now() - settings.AXES_COOLOFF_TIME + timedelta(seconds=9))
    answer = log_in("ada", PASSWORD)
    assert answer.status_code == 429
    assert 0 < int(answer["retry-after"]) <= 9
    AccessAttempt.objects.update(attempt_time=timezone.now() - settings.AXES_COOLOFF_TIME - timedelta(seconds=1))
    assert log_in("ada", PASSWORD).status_code == 302


def test_the_admins_own_log_in_has_the_same_limit(ada: User) -> None:
    fail(LIMIT)
    assert log_in("ada", PASSWORD, path=reverse("admin:login")).status_code == 429


def test_keys_and_open_sessions_go_on(ada: User, people: People) -> None:
    _, key = api_key_create(tenant=people.tenant, name="app")
    session = Client(REMOTE_ADDR="192.0.2.1")
    session.force_login(people.owner)
    fail(LIMIT, people.owner.username)
    assert log_in(people.owner.username).status_code == 429
    headers = {"authorization": f"Token {key}"}
    assert Client(REMOTE_ADDR="192.0.2.1").get("/v1/ping/", headers=headers).status_code == 200
    assert session.get(reverse("dashboard:overview", args=[people.tenant.slug])).status_code == 200


def test_attempts_are_in_the_log_without_passwords(ada: User) -> None:
    fail(LIMIT)
    log_in("ada", PASSWORD)
    logged = AccessFailureLog.objects.order_by("attempt_time").values_list("username", "ip_address", "locked_out")
    assert set(logged[: LIMIT - 1]) == {("ada", "192.0.2.1", False)}
    assert any(locked for *_, locked in logged)
    assert all("wrong" not in attempt.post_data for attempt in AccessAttempt.objects.all())
    assert log_in("owner", address="192.0.2.2").status_code == 200
    User.objects.create_user("eve", password=PASSWORD)
    log_in("eve", PASSWORD, address="192.0.2.3")
    assert AccessLog.objects.get().username == "eve"


def test_the_log_is_kept_for_ninety_days(ada: User) -> None:
    fail(2)
    AccessFailureLog.objects.filter(pk=AccessFailureLog.objects.earliest("pk").pk).update(
        attempt_time=timezone.now() - timedelta(days=91)
    )
    logins_expire()
    assert AccessFailureLog.objects.count() == 1


def test_staff_unlock_in_the_admin(ada: User) -> None:
    User.objects.create_superuser("root")
    root = Client()
    root.force_login(User.objects.get(username="root"))
    fail(LIMIT)
    assert root.get(reverse("admin:axes_accessfailurelog_changelist")).status_code == 200
    chosen = list(AccessAttempt.objects.values_list("pk", flat=True))
    form = {"action": "delete_selected", "_selected_action": chosen, "post": "yes"}
    assert root.post(reverse("admin:axes_accessattempt_changelist"), form).status_code == 302
    assert log_in("ada", PASSWORD).status_code == 302


@pytest.mark.django_db(transaction=True)
def test_in_the_web_process_it_is_told_as_well(ada: User) -> None:
    """There Django runs asynchronously."""
    fail(LIMIT, address="127.0.0.1")

    async def ask() -> Any:
        return await AsyncClient().post("/login/", {"username": "ada", "password": PASSWORD})

    answer = async_to_sync(ask)()
    assert answer.status_code == 429
    assert 800 < int(answer["retry-after"]) <= 900


@pytest.mark.parametrize(
    ("forwarded", "client"),
    [
        ("203.0.113.9", "203.0.113.9"),
        ("198.51.100.1, 203.0.113.9", "203.0.113.9"),  # the first one is what the client says of itself
        ("198.51.100.1, 203.0.113.9, 172.18.0.1", "203.0.113.9"),  # a proxy for TLS stands in front
    ],
)
def test_behind_the_proxy_the_address_is_the_clients(forwarded: str, client: str) -> None:
    words = FILE.read_text().split()
    trusted = words[words.index("--forwarded-allow-ips") + 1]
    seen: list[str] = []

    async def app(scope: object, receive: object, send: object) -> None:
        seen.append(scope["client"][0])  # type: ignore[index]

    headers = [(b"x-forwarded-for", forwarded.encode())]
    scope = {"type": "http", "client": ("172.18.0.5", 40000), "headers": headers, "scheme": "http"}
    async_to_sync(ProxyHeadersMiddleware(app, trusted))(scope, None, None)  # type: ignore[arg-type]
    assert seen == [client]
