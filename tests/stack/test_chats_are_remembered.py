"""What is said in a chat is stored with a job that finds its facts, through the OpenAI client."""

from typing import Any

import openai
import pytest
from facts.models import Turn
from tenants.scope import tenant_scope

from tests.stack.app import SECONDS, App
from tests.stack.test_facts_are_extracted import event_of
from tests.workers.running.processes import until

pytestmark = [pytest.mark.engine, pytest.mark.django_db(transaction=True)]
SAID = "My name is Nora and I live in Skerrow."


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_the_answers_event_is_a_job_over_the_turns_of_the_chat(app: App, stream: bool) -> None:
    client = openai.OpenAI(base_url=app.chat_url, api_key=app.key, timeout=SECONDS, max_retries=0)
    body: dict[str, Any] = {"memory": {"user_id": "nora", "write": True}}
    raw = client.chat.completions.with_raw_response.create(
        model=app.model,
        messages=[{"role": "user", "content": SAID}],
        max_tokens=24,
        temperature=0,
        stream=stream,
        extra_body=body,
    )
    answer: Any = raw.parse()
    text = "".join(c.choices[0].delta.content or "" for c in answer) if stream else answer.choices[0].message.content
    event_id = raw.headers["x-inferscale-write"]
    until(lambda: turns(app) != [], "the turns are stored", 30)
    assert turns(app) == [("user", SAID), ("assistant", " ".join(text.split()))]
    event = event_of(app, event_id)
    assert (event["event_type"], event["error"]) == ("ADD", "")


def turns(app: App) -> list[tuple[str, str]]:
    with tenant_scope(app.tenant):
        return list(Turn.objects.order_by("created_at").values_list("role", "content"))
