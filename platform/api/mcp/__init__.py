"""The memory API as tools of the Model Context Protocol: over HTTP at /mcp, over stdio by `manage.py mcp`."""

from api.mcp.mount import McpMount
from api.mcp.server import Caller, memory_server

__all__ = ["Caller", "McpMount", "memory_server"]
