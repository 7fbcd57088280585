"""Users of two engines: each has one of them, none notices when one is killed, none meets another's facts."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from uuid import uuid4

import httpx
import pytest
from facts.models import Encoding, Fact
from openai import OpenAI
from tenants.models import Tenant
from tenants.scope import every_tenant
from tenants.services import api_key_create, tenant_create

from tests.deploy.deployment import ENGINES, WEB, Deployment
from tests.workers.running.processes import until

pytestmark = [pytest.mark.engine, pytest.mark.django_db(transaction=True), pytest.mark.timeout(1800)]
PETS = {"alice": "Pepper", "bob": "Biscuit", "carol": "Clover", "dan": "Domino", "eve": "Ember", "finn": "Fudge"}
QUESTION = "What is the name of my cat? Answer with the name."


@pytest.fixture(scope="module")
def tenant(deployment: Deployment) -> Tenant:
    return tenant_create(name="Home", slug=uuid4().hex)


@pytest.fixture(scope="module")
def client(deployment: Deployment, tenant: Tenant) -> Iterator[OpenAI]:
    """An unmodified one; everybody has told the name of a cat, by the same origin."""
    _, key = api_key_create(tenant=tenant, name="app")
    for user, pet in PETS.items():
        remember(deployment, key, user, f"The cat of {user.title()} is called {pet}.")
    until(lambda: is_encoded(tenant), "all is encoded", 600)
    with OpenAI(base_url=f"{deployment.url}/v1", api_key=key, max_retries=1, timeout=300) as client:
        yield client


def remember(deployment: Deployment, key: str, user: str, text: str) -> None:
    body = {"messages": [{"role": "user", "content": text}], "user_id": user, "infer": False}
    headers = {"authorization": f"Token {key}", "x-request-id": f"add-{user}"}
    url = f"{deployment.url}/v3/memories/add/"
    httpx.post(url, json=body, headers=headers, timeout=300).raise_for_status()


def is_encoded(tenant: Tenant) -> bool:
    with every_tenant():
        states = set(Encoding.objects.filter(tenant=tenant).values_list("state", flat=True))
        facts = Fact.objects.filter(tenant=tenant).count()
        return states == {"ready"} and Encoding.objects.filter(tenant=tenant, fact__isnull=False).count() == facts


def ask(client: OpenAI, deployment: Deployment, user: str) -> tuple[str, str, str]:
    """The answer, what memory did, and the request's id."""
    request_id = f"{user}-{uuid4().hex[:12]}"
    response = client.chat.completions.with_raw_response.create(
        model=deployment.model,
        messages=[{"role": "user", "content": QUESTION}],
        user=user,
        max_tokens=12,
        temperature=0,
        extra_headers={"x-request-id": request_id},
    )
    completion = response.parse()
    return str(completion.choices[0].message.content), response.headers["x-inferscale-mode"], request_id


def assert_own(user: str, answer: str) -> None:
    assert {name for name, pet in PETS.items() if pet in answer} <= {user}, answer


def test_every_user_has_an_engine_and_both_have_users(deployment: Deployment, client: OpenAI) -> None:
    served, right = dict[str, set[str]](), 0
    for user in PETS:
        asked = [ask(client, deployment, user) for _ in range(2)]
        for answer, mode, _ in asked:
            assert mode == "inject"
            assert_own(user, answer)
            right += PETS[user] in answer
        served[user] = {engine for *_, request_id in asked for engine in deployment.server_of(request_id)}
    assert {len(engines) for engines in served.values()} == {1}
    assert set[str]().union(*served.values()) == set(ENGINES)
    assert right >= len(PETS), "a small model gets some names wrong"


def test_what_is_counted_of_injection_and_encoding_adds_up(deployment: Deployment, client: OpenAI) -> None:
    ask(client, deployment, "alice")
    pages = [deployment.page(engine) for engine in ENGINES]
    until(lambda: sum(total(deployment.page(e), "inferscale:injected_requests_total") for e in ENGINES) > 0, "told", 30)
    assert all(total(page, "inferscale_gateway_may_inject") == 1 for page in pages)
    assert sum(total(page, "inferscale_gateway_injected_tokens_total") for page in pages) > 0
    worker = deployment.page("worker-encode")
    assert total(worker, 'inferscale_worker_tasks_total{end="done",task="workers.encode.encode_fact"}') >= len(PETS)


def test_a_request_can_be_followed_from_web_to_worker_to_engine(deployment: Deployment, client: OpenAI) -> None:
    def tellers(request_id: str) -> set[str]:
        names = (*WEB, "worker-encode", *ENGINES)
        return {name for name in names if any(line.get("request_id") == request_id for line in deployment.told(name))}

    found = tellers("add-alice")
    assert "worker-encode" in found
    assert len(found & {*WEB}) == 1
    assert found & {*ENGINES}


def test_nobody_notices_when_an_engine_is_killed(deployment: Deployment, client: OpenAI) -> None:
    """Under load; what had begun to be answered is asked again, once, as clients do by themselves."""
    lost = deployment.server_of(ask(client, deployment, "alice")[2]).pop()
    stop, asked = Event(), dict[str, list[tuple[str, str, str]]]()

    def keep_asking(user: str) -> None:
        asked[user] = []
        while not stop.is_set():
            asked[user].append(ask(client, deployment, user))

    with ThreadPoolExecutor(len(PETS)) as pool:
        users = [pool.submit(keep_asking, user) for user in PETS]
        try:
            until(lambda: len(asked) == len(PETS) and all(len(mine) > 1 for mine in asked.values()), "all ask", 120)
            deployment.kill(lost)
            before = {user: len(mine) for user, mine in asked.items()}
            until(lambda: all(len(mine) > before[user] + 2 for user, mine in asked.items()), "all go on", 180)
        finally:
            stop.set()
        for asking in users:
            asking.result()
    for user, mine in asked.items():
        for answer, mode, _ in mine:
            assert mode in ("inject", "prompt")
            assert_own(user, answer)
    other = next(engine for engine in ENGINES if engine != lost)
    assert {engine for mine in asked.values() for engine in deployment.server_of(mine[-1][2])} == {other}
    deployment.start(lost)
    deployment.wait_ready(lost)
    until(lambda: deployment.server_of(ask(client, deployment, "alice")[2]) == {lost}, "the old order again", 60)


def total(page: str, name: str) -> float:
    """Summed over labels, unless the name has some."""
    starts = (f"{name} ", f"{name}{{") if "{" not in name else (name,)
    return sum(float(line.rsplit(" ", 1)[1]) for line in page.splitlines() if line.startswith(starts))
