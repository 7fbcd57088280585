"""ASGI entry point of the web process: Django, and the MCP server beside it."""

import os

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.web_settings")
django = get_asgi_application()

from api.mcp import McpMount  # noqa: E402 - needs Django set up

from config.tracing import start_tracing  # noqa: E402

start_tracing("web")
application = McpMount(django)
