"""The overview: of one tenant, or of the whole platform for its staff."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from config.health import service_states
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from facts.selectors import memory_figures
from tenants.access import Power
from tenants.models import Tenant
from usage.engine import EngineState, engine_state
from usage.traffic import Traffic, Usage, rolled_until, traffic

from frontend.charts import MODE_NAMES, injected_chart, requests_chart, ttft_chart
from frontend.periods import CHOICES, Period
from frontend.quotas import quota_rows
from frontend.views.base import StaffView, TenantView, csv_answer

QUANTILES = {"p50": 0.5, "p95": 0.95, "p99": 0.99}
WORKER_SILENT = timedelta(minutes=4)  # it rolls requests up every minute, to a minute ago
VIEWER = {"GET": Power.VIEWER}
GOLDEN = {
    "passed": "ready, injection allowed",
    "pending": "golden check under way, no injection yet",
    "failed": "golden check failed, no injection",
}


@dataclass(frozen=True, slots=True)
class ModeRow:
    mode: str
    name: str
    usage: Usage
    p50: float | None
    p95: float | None
    p99: float | None


@dataclass(frozen=True, slots=True)
class Service:
    name: str
    is_up: bool
    note: str


def overview_context(request: HttpRequest, tenant: Tenant | None) -> dict[str, Any]:
    period = Period.parse(request.GET.dict())
    asked = request.GET.get("q", "p50")
    quantile = asked if asked in QUANTILES else "p50"
    seen = _traffic(tenant, period)
    total, modes = seen.all, {row.mode: row for row in mode_rows(seen)}
    return {
        "period": period,
        "periods": CHOICES,
        "quantile": quantile,
        "quantiles": QUANTILES,
        "traffic": seen,
        "total": total,
        "rate": total.requests / (period.until - period.since).total_seconds(),
        "modes": modes,
        "slowest": max((row.p50 for row in modes.values() if row.p50), default=None),
        "charts": [ttft_chart(seen, QUANTILES[quantile]), requests_chart(seen), injected_chart(seen)],
        "memory": memory_figures(tenant=tenant),
        "seen_at": timezone.now(),
    }


def mode_rows(seen: Traffic) -> Iterator[ModeRow]:
    for mode, name in MODE_NAMES.items():
        usage = seen.total.modes[mode]
        yield ModeRow(mode, name, usage, *(usage.ttft.quantile(share) for share in QUANTILES.values()))


def engine_context() -> dict[str, Any]:
    state = engine_state()
    return {
        "engine": state,
        "tiers": state.metrics.tiers if state.metrics else {},
        "tenant_share": settings.ENV.tenant_share,
        "services": services(state),
    }


def services(engine: EngineState) -> list[Service]:
    away = {name: state for name, state in service_states().items() if state != "ok"}
    notes = {"database": "PostgreSQL answers", "redis": "Redis answers"}
    asked = [Service(name.title(), name not in away, away.get(name, note)) for name, note in notes.items()]
    rolled = rolled_until()
    silent = rolled is not None and timezone.now() - rolled > WORKER_SILENT
    note = "beat is silent: what is queued waits" if silent else "beat is heard" if rolled else "nothing to do yet"
    worker = Service("Worker", not silent, note)
    return [
        Service("Web", True, "answers"),
        *asked,
        worker,
        Service("Engine", engine.metrics is not None, engine.trouble or GOLDEN.get(engine.golden, "answers")),
    ]


def overview_csv(request: HttpRequest, tenant: Tenant | None) -> HttpResponse:
    period = Period.parse(request.GET.dict())
    name = f"{tenant.slug if tenant else 'platform'}-{period.name}"
    header = (
        *("start_utc", "step_seconds", "mode", "requests", "refused", "failed"),
        *("prompt_tokens", "injected_tokens", "output_tokens", "ttft_p50_ms", "ttft_p95_ms", "ttft_p99_ms"),
    )
    return csv_answer(name, header, _csv_rows(_traffic(tenant, period)))


def _csv_rows(seen: Traffic) -> Iterator[tuple[object, ...]]:
    for point in seen.points:
        for mode, usage in point.modes.items():
            quantiles = [usage.ttft.quantile(share) for share in QUANTILES.values()]
            yield (
                *(point.start.isoformat(), int(seen.step.total_seconds()), mode),
                *(usage.requests, usage.refused, usage.failed),
                *(usage.prompt_tokens, usage.injected_tokens, usage.output_tokens),
                *("" if value is None else f"{value:.1f}" for value in quantiles),
            )


def _traffic(tenant: Tenant | None, period: Period) -> Traffic:
    return traffic(tenant=tenant, since=period.since, until=period.until, step=period.step)


class OverviewView(TenantView):
    section = "overview"
    powers = VIEWER

    def get(self, request: HttpRequest) -> HttpResponse:
        limited = [row for row in quota_rows(self.tenant) if row.limit is not None]
        return self.show("overview", quotas=limited, **overview_context(request, self.tenant))


class OverviewEngineView(TenantView):
    """Loaded after the page, which must not wait for an engine that hangs."""

    powers = VIEWER

    def get(self, request: HttpRequest) -> HttpResponse:
        return self.show("parts/engine", **engine_context())


class OverviewCsvView(TenantView):
    powers = VIEWER

    def get(self, request: HttpRequest) -> HttpResponse:
        return overview_csv(request, self.tenant)


class PlatformView(StaffView):
    section = "platform"

    def get(self, request: HttpRequest) -> HttpResponse:
        return self.show("overview", **overview_context(request, None))


class PlatformEngineView(StaffView):
    def get(self, request: HttpRequest) -> HttpResponse:
        return self.show("parts/engine", **engine_context())


class PlatformCsvView(StaffView):
    def get(self, request: HttpRequest) -> HttpResponse:
        return overview_csv(request, None)
