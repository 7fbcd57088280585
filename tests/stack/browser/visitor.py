"""A person at a browser, and what went wrong meanwhile."""

from dataclasses import dataclass, field
from typing import Any, Literal, cast
from urllib.parse import urlsplit

from axe_playwright_python.sync_playwright import Axe
from django.conf import settings
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request

GRAVE = ("serious", "critical")


@dataclass
class Visitor:
    page: Page
    url: str
    context: BrowserContext
    troubles: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, browser: Browser, url: str, session: str, *, theme: str) -> "Visitor":
        scheme = cast(Literal["dark", "light"], theme)
        context = browser.new_context(base_url=url, color_scheme=scheme, reduced_motion="reduce")
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        if session:
            context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": session, "url": url}])
        visitor = cls(context.new_page(), url, context)
        visitor.page.set_default_timeout(60_000)
        visitor.page.on("console", visitor._read)
        visitor.page.on("pageerror", lambda error: visitor.troubles.append(f"script: {error}"))
        context.on("request", visitor._check)
        return visitor

    def go(self, path: str) -> Page:
        self.page.goto(path, wait_until="networkidle")
        return self.page

    def complaints(self) -> list[str]:
        """Of axe-core about the page as it is, those that keep somebody from using it."""
        found: list[dict[str, Any]] = Axe().run(self.page).response["violations"]
        return [
            f"{one['id']}: {one['help']}: {[node['html'][:200] for node in one['nodes']]}"
            for one in found
            if one["impact"] in GRAVE
        ]

    def close(self) -> None:
        self.context.close()

    def _read(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.troubles.append(f"console: {message.text}")

    def _check(self, request: Request) -> None:
        asked = urlsplit(request.url)
        if asked.scheme not in ("data", "blob") and asked.netloc != urlsplit(self.url).netloc:
            self.troubles.append(f"request to {request.url}")
