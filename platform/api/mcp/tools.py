"""The tools, each one call of the memory API, named as Mem0's MCP server names them, so that prompts for it work."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from mcp.types import Tool as ToolDescription
from mcp.types import ToolAnnotations

from api.mcp.arguments import Add, Arguments, EventOf, Memory, Named, Nothing, Page, Search, Update
from api.mcp.calls import Call

A = TypeVar("A", bound=Arguments)

READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
ADDS = ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=False)
CHANGES = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False)


@dataclass(frozen=True, slots=True)
class Tool(Generic[A]):
    name: str
    title: str
    description: str
    takes: type[A]
    call: Callable[[A], Call]
    hints: ToolAnnotations

    def described(self) -> ToolDescription:
        return ToolDescription(
            name=self.name,
            title=self.title,
            description=self.description,
            input_schema=self.takes.model_json_schema(),
            annotations=self.hints,
        )

    def call_for(self, arguments: dict[str, Any]) -> Call:
        """Raises pydantic's ValidationError."""
        return self.call(self.takes.model_validate(arguments))


def _add(given: Add) -> Call:
    body: dict[str, Any] = {
        **given.names,
        "messages": [{"role": "user", "content": given.text}],
        "infer": given.infer,
        "metadata": given.metadata,
        "expiration_date": given.expiration_date,
    }
    return Call("POST", "/v3/memories/add/", body)


def _search(given: Search) -> Call:
    body = {"query": given.query, "filters": given.condition, "top_k": given.top_k, "threshold": given.threshold}
    return Call("POST", "/v3/memories/search/", body)


def _list(given: Page) -> Call:
    query = {"page": given.page, "page_size": given.page_size}
    return Call("POST", "/v3/memories/", {"filters": given.condition}, query)


def _update(given: Update) -> Call:
    metadata = {} if given.metadata is None else {"metadata": given.metadata}
    return Call("PUT", _path(given), {"text": given.text, **metadata})


def _path(given: Memory) -> str:
    return f"/v1/memories/{given.memory_id}/"


TOOLS: tuple[Tool[Any], ...] = (
    Tool(
        "add_memory",
        "Remember",
        "Store something worth remembering: a preference, a fact about a person, a decision, a plan. Name whose memory"
        " it is. With infer, the answer has an event_id; get_event says what was stored.",
        Add,
        _add,
        ADDS,
    ),
    Tool(
        "search_memories",
        "Search memories",
        "Find memories by meaning, the best first. Use it before answering whatever may depend on what is known about"
        " the user.",
        Search,
        _search,
        READS,
    ),
    Tool(
        "get_memories",
        "List memories",
        "List memories that match, the newest first, page by page, without a question.",
        Page,
        _list,
        READS,
    ),
    Tool(
        "get_memory",
        "Read a memory",
        "Read one memory by its id.",
        Memory,
        lambda given: Call("GET", _path(given)),
        READS,
    ),
    Tool(
        "update_memory",
        "Change a memory",
        "Overwrite the text of one memory. Search for it first, to be sure of its id.",
        Update,
        _update,
        CHANGES,
    ),
    Tool(
        "delete_memory",
        "Forget a memory",
        "Delete one memory by its id, for good.",
        Memory,
        lambda given: Call("DELETE", _path(given)),
        CHANGES,
    ),
    Tool(
        "delete_all_memories",
        "Forget everything of somebody",
        "Delete all memories that carry every name given, for good. Ask the user before.",
        Named,
        lambda given: Call("DELETE", "/v1/memories/", query=given.names),
        CHANGES,
    ),
    Tool(
        "list_entities",
        "List whose memories there are",
        "List the users, agents, applications and sessions that memories name, with how many each has.",
        Nothing,
        lambda given: Call("GET", "/v1/entities/"),
        READS,
    ),
    Tool(
        "get_event",
        "How far an add is",
        "Whether the job of an add_memory is done, what it stored, or why it failed.",
        EventOf,
        lambda given: Call("GET", f"/v1/event/{given.event_id}/"),
        READS,
    ),
)
BY_NAME = {tool.name: tool for tool in TOOLS}
