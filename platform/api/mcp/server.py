"""The MCP server: which tools there are, and what a call of one answers."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import httpx
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp.types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
)
from pydantic import ValidationError

from api.mcp.arguments import NAMES, Named
from api.mcp.calls import CallRefused, answer_of
from api.mcp.tools import BY_NAME, TOOLS, Tool

INSTRUCTIONS = (
    "Long-term memory of users, agents, applications and sessions. Search it before answering what may depend on what"
    " is known about the user, and add to it what is worth knowing next time. A memory belongs to whoever is named when"
    " it is added: use the same id for the same person every time."
)


@dataclass(frozen=True, slots=True)
class Caller:
    """`api` sends the caller's key. `user_id` is whose memory is meant where a call names nobody, '' for nobody's."""

    api: httpx.AsyncClient
    user_id: str = ""


Context = ServerRequestContext[Any, Any]


def memory_server(caller_of: Callable[[Context], Caller]) -> Server[Any]:
    async def list_tools(context: Context, params: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(tools=[tool.described() for tool in TOOLS])

    async def call_tool(context: Context, params: CallToolRequestParams) -> CallToolResult:
        tool = BY_NAME.get(params.name)
        if tool is None:
            raise MCPError(INVALID_PARAMS, f"There is no tool {params.name}. Known: {', '.join(BY_NAME)}.")
        caller = caller_of(context)
        async with caller.api as api:
            return await _result(api, tool, _completed(tool, params.arguments or {}, caller.user_id))

    return Server(
        "inferscale", instructions=INSTRUCTIONS, on_list_tools=list_tools, on_call_tool=call_tool, version="0.1.0"
    )


def _completed(tool: Tool[Any], arguments: dict[str, Any], user_id: str) -> dict[str, Any]:
    names_nobody = all(arguments.get(name) is None for name in NAMES)
    if user_id and names_nobody and issubclass(tool.takes, Named):
        return {**arguments, "user_id": user_id}
    return arguments


async def _result(api: httpx.AsyncClient, tool: Tool[Any], arguments: dict[str, Any]) -> CallToolResult:
    """What goes wrong is the result, for the model to read."""
    try:
        answer = await answer_of(api, tool.call_for(arguments))
    except ValidationError as error:
        return _said("\n".join(f"{'.'.join(map(str, item['loc']))}: {item['msg']}" for item in error.errors()), True)
    except CallRefused as error:
        return _said(str(error), True)
    structured = answer if isinstance(answer, dict) else {"result": answer}
    return _said(json.dumps(answer, ensure_ascii=False), False, structured)


def _said(text: str, is_error: bool, structured: dict[str, Any] | None = None) -> CallToolResult:
    content = [TextContent(type="text", text=text)]
    return CallToolResult(content=content, structured_content=structured, is_error=is_error)
