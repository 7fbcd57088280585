"""`manage.py mcp`: the memory API as MCP tools over standard input and output."""

from functools import partial
from typing import Any

import anyio
import httpx
from config.env import variable
from config.processes import web_url
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from mcp.server.stdio import stdio_server

from api.mcp import Caller, memory_server

SECONDS = 60.0


class Command(BaseCommand):
    help = "Serves memory to a desktop client over standard input and output, as a client of the memory API"
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--url", help="of the memory API; by default that of this installation's web process")
        parser.add_argument("--user", default="", help="whose memory is meant where a call names nobody")

    def handle(self, *args: Any, **options: Any) -> None:
        env = settings.ENV
        if not env.mcp_key:
            raise CommandError(f"Set {variable('mcp_key')} to an API key")
        anyio.run(partial(_serve, options["url"] or web_url(env), env.mcp_key, options["user"]))


async def _serve(url: str, key: str, user_id: str) -> None:
    def caller_of(_: object) -> Caller:
        headers = {"authorization": f"Token {key}"}
        return Caller(httpx.AsyncClient(base_url=url, headers=headers, timeout=SECONDS), user_id)

    server = memory_server(caller_of)
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())
