"""What an application has: two base URLs and a key. All that the tests do goes through HTTP."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import httpx
from facts.models import Encoding, Fact
from tenants.models import Tenant
from tenants.scope import every_tenant
from tenants.services import api_key_create

from memory.store import BlobStore
from tests.stack.stack import Stack
from tests.workers.running.processes import until

CHAT = "/v1/chat/completions"
LONG = "Tell me about the weather in the north of the country, please. " * 12  # more than a block of the prefix cache
SECONDS = 180.0


@dataclass(frozen=True)
class Reply:
    """An answer of the chat API that was not streamed."""

    response: httpx.Response

    @property
    def body(self) -> dict[str, Any]:
        return dict(self.response.json())

    @property
    def text(self) -> str:
        return str(self.body["choices"][0]["message"]["content"])

    @property
    def prompt_ids(self) -> list[int]:
        return list(self.body["prompt_token_ids"])

    @property
    def prompt_tokens(self) -> int:
        return int(self.body["usage"]["prompt_tokens"])

    @property
    def cached_tokens(self) -> int:
        """Not computed for this request: found in the prefix cache, or injected."""
        return int((self.body["usage"]["prompt_tokens_details"] or {}).get("cached_tokens") or 0)

    @property
    def mode(self) -> str:
        return self.response.headers["x-inferscale-mode"]

    @property
    def facts(self) -> int:
        return int(self.response.headers["x-inferscale-facts"])

    @property
    def injected(self) -> int:
        """As planned; `cached_tokens` says what became of it."""
        return int(self.response.headers["x-inferscale-tokens-injected"])

    @property
    def error(self) -> dict[str, Any]:
        return dict(self.body["error"])


@dataclass(frozen=True)
class App:
    stack: Stack
    tenant: Tenant
    key: str
    model: str = "demo"
    http: httpx.Client = field(default_factory=lambda: httpx.Client(timeout=SECONDS))

    @classmethod
    def of(cls, stack: Stack, tenant: Tenant, **key_options: Any) -> "App":
        return cls(stack, tenant, api_key_create(tenant=tenant, name="app", **key_options)[1], stack.model)

    @property
    def chat_url(self) -> str:
        return f"{self.stack.env.engine_base_url}/v1"

    def memory_api(self, method: str, path: str, **options: Any) -> httpx.Response:
        headers = {"authorization": f"Token {self.key}"} if self.key else {}
        return self.http.request(method, self.stack.web_url + path, headers=headers, **options)

    def engine_api(self, method: str, path: str, **options: Any) -> httpx.Response:
        own = {"authorization": f"Bearer {self.key}"} if self.key else {}
        headers = {**own, **options.pop("headers", {})}
        return self.http.request(method, self.stack.env.engine_base_url + path, headers=headers, **options)

    def remember(self, user: str, *texts: str) -> list[str]:
        """Ids of the facts."""
        messages = [{"role": "user", "content": text} for text in texts]
        body = {"messages": messages, "user_id": user, "infer": False}
        answer = self.memory_api("POST", "/v3/memories/add/", json=body).raise_for_status().json()
        return [result["id"] for result in answer["results"]]

    def forget(self, fact_id: str) -> None:
        self.memory_api("DELETE", f"/v1/memories/{fact_id}/").raise_for_status()

    def change(self, fact_id: str, text: str) -> None:
        self.memory_api("PUT", f"/v1/memories/{fact_id}/", json={"text": text}).raise_for_status()

    def search(self, query: str, user: str) -> dict[str, str]:
        """Texts by id, the best first."""
        body = {"query": query, "filters": {"user_id": user}, "threshold": 0, "top_k": 100}
        answer = self.memory_api("POST", "/v3/memories/search/", json=body).raise_for_status().json()
        return {result["id"]: result["memory"] for result in answer["results"]}

    def chat(self, question: str, **body: Any) -> Reply:
        """Without memory, unless the body turns it on; whatever the status."""
        messages = [{"role": "user", "content": question}]
        defaults = {"model": self.model, "messages": messages, "max_tokens": 24, "temperature": 0}
        return Reply(self.engine_api("POST", CHAT, json={**defaults, "return_token_ids": True, **body}))

    def ask(self, user: str, question: str, *, mode: str = "auto", **body: Any) -> Reply:
        reply = self.chat(question, memory={"user_id": user, "mode": mode}, **body)
        assert reply.response.status_code == 200, reply.response.text
        return reply

    def encodings(self, user: str) -> dict[UUID | None, Encoding]:
        """By the id of the fact; None is the header's."""
        with every_tenant():
            found = Encoding.objects.filter(tenant=self.tenant, owner__name=user).exclude(state="stale")
            return {encoding.fact_id: encoding for encoding in found}

    def keys(self, user: str) -> set[str]:
        return {encoding.key for encoding in self.encodings(user).values()}

    def until_encoded(self, *users: str) -> None:
        """Every fact and header of theirs is ready, and what was stale is gone."""
        until(lambda: all(self._is_encoded(user) for user in users), f"{users} are encoded", SECONDS)

    def _is_encoded(self, user: str) -> bool:
        with every_tenant():
            facts = set(Fact.objects.filter(tenant=self.tenant, owner__name=user, status="active").values_list("pk"))
            found = Encoding.objects.filter(tenant=self.tenant, owner__name=user)
            states = set(found.values_list("state", flat=True))
            return states == {"ready"} and set(found.values_list("fact_id")) == {*facts, (None,)}


def stored(store: BlobStore, keys: Sequence[str] | set[str]) -> set[str]:
    """Those whose blob is in the store."""
    return {key for key in keys if store.exists(key)}
