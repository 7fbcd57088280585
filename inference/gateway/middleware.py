"""The ASGI middleware that vLLM's API server is started with: `--middleware inference.gateway.middleware.Gateway`."""

import os

import django
from django.apps import apps

from inference.gateway.http import App, Receive, Scope, Send

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")


class Gateway:
    """Outermost: nothing reaches the server but what this lets through."""

    def __init__(self, app: App) -> None:
        if not apps.ready:
            django.setup()
        from inference.gateway.service import GatewayService  # its imports need Django's models

        self.service = GatewayService(app)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        match scope["type"]:
            case "http":
                await self.service.serve(scope, receive, send)
            case "lifespan":
                await self.service.live(scope, receive, send)
            case _:  # vLLM's WebSocket paths take prompts, so they are not on the list of allowed paths
                await send({"type": "websocket.close", "code": 1008, "reason": "not served here"})
