"""The README's pictures of the dashboard, from a demo that runs."""

from datetime import timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import httpx
from config.env import ROOT
from config.processes import web_url
from django.conf import settings
from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.urls import NoReverseMatch, reverse
from django.utils import timezone
from tenants.logins import session_begin
from tenants.models import Tenant
from usage.holdings import largest_owners
from usage.selectors import request_records

from frontend.periods import Period

PAGES = ("overview", "facts", "playground", "requests", "kv", "recall")
HAVE_PERIODS = ("overview", "requests", "kv")
SHORTEST, LONGEST = timedelta(minutes=5), timedelta(hours=1)
NEEDED = {"playwright": "playwright", "PIL": "pillow"}
LASTS = timedelta(minutes=30)


class Command(BaseCommand):
    help = "Take pictures of the dashboard's pages, light and dark, from a running demo"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--url", default="", help="of the dashboard; else as configured")
        parser.add_argument("--tenant", default="demo", help="slug of the tenant that is shown")
        parser.add_argument("--user", default="admin", help="account that looks at it")
        parser.add_argument("--question", default="What is the name of Nora's cat?", help="asked in the playground")
        parser.add_argument("--folder", type=Path, default=ROOT / "frontend" / "screenshots")

    def handle(self, *args: Any, **options: Any) -> None:
        chromium = self._needed()
        url = options["url"] or web_url(settings.ENV)
        self._check_served(url)
        tenant = Tenant.objects.filter(slug=options["tenant"]).first()
        user = User.objects.filter(username=options["user"]).first()
        if tenant is None or user is None:
            raise CommandError("There is no such tenant or account: start `make demo` first, or name others.")
        from frontend.screenshots import MOST_BYTES, NotShown, Shot, ask, take

        owner = next((str(row.of.name) for row in largest_owners(tenant=tenant, limit=1)), "")
        prepared = {"playground": ask(owner, options["question"])} if owner else {}
        shots = [
            Shot(name, path, prepared[name]) if name in prepared else Shot(name, path)
            for name, path in self._paths(tenant, owner, options["question"]).items()
        ]
        session = session_begin(user, lasts=LASTS)
        try:
            files = take(shots, url=url, session=str(session.session_key), chromium=chromium, folder=options["folder"])
            for file in files:
                size = file.stat().st_size
                note = "" if size <= MOST_BYTES else f", more than the {MOST_BYTES} it should have"
                self.stdout.write(f"{file}, {size} bytes{note}")
        except NotShown as error:
            raise CommandError(str(error)) from error
        finally:
            session.delete()

    def _needed(self) -> str:
        """Chromium's path."""
        if missing := [package for module, package in NEEDED.items() if find_spec(module) is None]:
            wanted = " and ".join(missing)
            raise CommandError(f"Pictures need {wanted}, which comes with what the tests need: make setup")
        from frontend.screenshots import find_chromium

        chromium = find_chromium()
        if chromium is None:
            raise CommandError("Pictures need a browser: install your system's package chromium.")
        return chromium

    def _check_served(self, url: str) -> None:
        try:
            httpx.get(f"{url}/health/live", timeout=5, trust_env=False).raise_for_status()
        except httpx.HTTPError as error:
            raise CommandError(f"{url} does not answer ({error}): start `make demo` first.") from error

    def _paths(self, tenant: Tenant, owner: str, question: str) -> dict[str, str]:
        """Of the pages that there are."""
        period = self._period(tenant)
        queries = {**dict.fromkeys(HAVE_PERIODS, period), "recall": urlencode({"user": owner, "q": question})}
        found = {}
        for name in PAGES:
            try:
                path = reverse(f"dashboard:{name}", args=[tenant.slug])
                found[name] = f"{path}?{queries[name]}" if name in queries else path
            except NoReverseMatch:
                self.stderr.write(f"There is no page {name}: left out.")
        return found

    @staticmethod
    def _period(tenant: Tenant) -> str:
        """Since the first request, for a demo is young, and charts of a day would be empty but for their end."""
        now = timezone.now()
        first = request_records(tenant=tenant, since=now - LONGEST).last()
        since = min(first.created_at - timedelta(minutes=1), now - SHORTEST) if first else now - LONGEST
        return Period("custom", since, now + timedelta(minutes=1)).query
