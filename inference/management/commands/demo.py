"""`manage.py demo`: set up, start everything, show what injection does."""

import json
import threading
import time
from typing import Any

from config import processes
from config.services import ServiceError, Services
from config.supervisor import ChildError, Supervisor, stop_signals
from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from rich.console import Console
from rich.progress import Progress
from tenants.models import Tenant

from inference.bench.chat import ChatClient
from inference.bench.subject import EncodingStuckError, run_key, wait_encoded
from inference.demo.accounts import LOGIN, Credentials, demo_accounts
from inference.demo.report import answers_table, latency_table
from inference.demo.run import USER, DemoResult, load_conversation, requests_of, run_demo
from inference.demo.script import questions
from memory.models import served_name


class Command(BaseCommand):
    help = "Start everything, load a conversation, answer questions with facts as text and as injected KV"
    requires_system_checks = ()  # the migration does them, once the database is up

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--once", action="store_true", help="end after the tables instead of staying up")

    def handle(self, *args: Any, **options: Any) -> None:
        started = time.monotonic()
        env = settings.ENV
        console = Console(file=self.stdout)  # type: ignore[arg-type]
        try:
            with stop_signals() as stop, Services(env).hold(), Supervisor(env.home / "logs") as supervisor:
                call_command("migrate", verbosity=0, stdout=self.stdout, skip_checks=False)
                tenant, credentials = demo_accounts()
                if not self._start(console, supervisor, stop):
                    return
                setup_seconds = time.monotonic() - started
                facts = self._load(console, tenant, supervisor)
                result = self._ask(console, tenant)
                self._report(console, result, facts, setup_seconds, credentials)
                if not options["once"]:
                    supervisor.wait(stop)
        except (ChildError, ServiceError, EncodingStuckError) as error:
            raise CommandError(str(error)) from error

    def _start(self, console: Console, supervisor: Supervisor, stop: threading.Event) -> bool:
        """Whether everything is up; False when asked to stop meanwhile."""
        env = settings.ENV
        with console.status("starting web, worker and engine"):
            for name in processes.start_all(env, supervisor, stop):
                console.print(f"{name} is up, log in {supervisor.log(name)}", soft_wrap=True)
        return not stop.is_set()

    def _load(self, console: Console, tenant: Tenant, supervisor: Supervisor) -> int:
        load_conversation(tenant)
        with Progress(console=console) as bar:
            task = bar.add_task("encoding facts", total=None)
            return wait_encoded(
                tenant,
                USER,
                progress=lambda ready, total: bar.update(task, completed=ready, total=total),
                alive=supervisor.check,
                stall_seconds=180,
            )

    def _ask(self, console: Console, tenant: Tenant) -> DemoResult:
        env = settings.ENV
        key = run_key(tenant, "demo's own questions")
        client = ChatClient(env.engine_base_url, key, model=served_name(env.model, env.home), user=USER)
        asked = questions()
        with Progress(console=console) as bar:
            task = bar.add_task("asking questions", total=requests_of(asked))
            return run_demo(client, asked, progress=lambda done: bar.update(task, completed=done))

    def _report(
        self, console: Console, result: DemoResult, facts: int, setup_seconds: float, credentials: Credentials
    ) -> None:
        env = settings.ENV
        path = env.home / "demo.json"
        path.write_text(json.dumps(result.as_json(facts=facts, setup_seconds=setup_seconds), indent=1) + "\n")
        console.print(answers_table(result), latency_table(result))
        web = processes.web_url(env)
        lines = [f"dashboard  {web}/", f"memory API {web}/api/docs/", f"chat API   {env.engine_base_url}/v1"]
        lines.append(f"results    {path}")
        if credentials.api_key:
            lines.append(f"API key    {credentials.api_key}  (shown once)")
        if credentials.password:
            lines.append(f"login      {LOGIN} / {credentials.password}  (shown once)")
        console.print("\n".join(lines), soft_wrap=True, markup=False)
