"""The KV store: how full the tiers are, what they are good for, whose KV lies where, and moving it."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from facts.enqueue import DROP_TENANTS_KV, enqueue
from facts.models import Owner
from facts.selectors import owner_by_id
from facts.services import owner_kv_drop
from tenants.access import Power
from tenants.models import Tenant
from tenants.selectors import tenant_quota
from usage.engine import engine_state
from usage.holdings import Held, largest_owners, largest_tenants, owners_in_memory, owners_with_kv, tenant_held
from usage.models import TierSample
from usage.services import owners_demote, owners_promote
from usage.tiers import TIERS, TierFlow, tier_flow, tier_traffic, tiers_now

from frontend.charts import TIER_COLOURS, TIER_NAMES, hit_rate_chart, reads_chart
from frontend.periods import CHOICES, Period
from frontend.views.base import StaffView, TenantView

LARGEST = 20
AT_ONCE = 100  # as many owners as the worker moves at a look
SILENT = timedelta(minutes=4)  # the worker samples every minute
ACTIONS = ("promote", "demote", "drop")


@dataclass(frozen=True, slots=True)
class TierRow:
    """`held` and `limit` are the tenant's; the limit of memory is that of one rank."""

    name: str
    label: str
    colour: str
    now: TierSample
    flow: TierFlow
    seconds: float
    held: Held | None = None
    limit: int | None = None

    @property
    def reads(self) -> float:
        """Blobs a second."""
        return self.flow.hits / self.seconds

    @property
    def stores(self) -> float:
        """Blobs a second."""
        return self.flow.filled / self.seconds


class NotOrdered(Exception):
    """Nothing was done; the message says why."""


@dataclass(frozen=True, slots=True)
class HoldingRow:
    """An owner or a tenant, and what lies where of it, in the order of the table's columns."""

    of: Any
    cells: list[Held]
    blobs: int


def kv_context(request: HttpRequest, tenant: Tenant | None) -> dict[str, Any]:
    period = Period.parse(request.GET.dict())
    traffic = tier_traffic(since=period.since, until=period.until, step=period.step)
    held = tenant_held(tenant=tenant) if tenant else {}
    quota = tenant_quota(tenant=tenant) if tenant else None
    tiers = [
        TierRow(
            name,
            TIER_NAMES[name],
            TIER_COLOURS[name],
            sample,
            tier_flow(traffic.get(name, ())),
            (period.until - period.since).total_seconds(),
            held.get(name, Held()) if tenant else None,
            getattr(quota, f"kv_{name}_bytes", None),
        )
        for name, sample in tiers_now().items()
    ]
    names = [name for name in TIERS if name == "disk" or any(tier.name == name for tier in tiers)]
    largest = largest_owners(tenant=tenant, limit=LARGEST) if tenant else largest_tenants(limit=LARGEST)
    rows = [
        HoldingRow(one.of, [one.tiers.get(name, Held()) for name in names], one.tiers["disk"].blobs) for one in largest
    ]
    sampled_at = max((tier.now.time for tier in tiers), default=None)
    return {
        "period": period,
        "periods": CHOICES,
        "tiers": tiers,
        "charts": [hit_rate_chart(traffic, period), reads_chart(traffic, period)],
        "largest": rows,
        "columns": [TIER_NAMES[name] for name in names],
        "has_kv": bool(rows),
        "sampled_at": sampled_at,
        "is_silent": sampled_at is not None and timezone.now() - sampled_at > SILENT,
        "seen_at": timezone.now(),
    }


class KvView(TenantView):
    section = "kv"
    powers = {"GET": Power.VIEWER}

    def get(self, request: HttpRequest) -> HttpResponse:
        return self.show("kv", **kv_context(request, self.tenant))


class PlatformKvView(StaffView):
    section = "platform-kv"

    def get(self, request: HttpRequest) -> HttpResponse:
        return self.show("kv", **kv_context(request, None))


class KvOrderView(TenantView):
    """Moves one owner's KV, or all of the tenant's where the form names no owner."""

    powers = {"POST": Power.ADMIN}

    def post(self, request: HttpRequest) -> HttpResponse:
        action = request.POST.get("action", "")
        if action not in ACTIONS:
            raise Http404
        owner = self._owner()
        target, name = (str(owner), owner.name) if owner else (self.tenant.slug, self.tenant.name)
        order = {"promote": self._promote, "demote": self._demote, "drop": self._drop}[action]
        try:
            with self.audited(f"kv.{action}", target):
                told = order(owner)
            messages.success(request, f"{name}: {told}{engine_note()}")
        except NotOrdered as error:
            messages.error(request, f"{name}: {error}")
        back = request.POST.get("back")
        if back == "platform" and self.user.is_staff:
            return redirect("dashboard:platform-kv")
        if back == "user" and owner:
            return redirect("dashboard:user", slug=self.tenant.slug, owner_id=owner.pk)
        return redirect("dashboard:kv", slug=self.tenant.slug)

    def _owner(self) -> Owner | None:
        asked = self.request.POST.get("owner", "")
        if not asked:
            return None
        owner = owner_by_id(tenant=self.tenant, owner_id=int(asked)) if asked.isdecimal() else None
        if owner is None:
            raise Http404
        return owner

    def _promote(self, owner: Owner | None) -> str:
        ids = [owner.pk] if owner else owners_with_kv(tenant=self.tenant, limit=AT_ONCE)
        owners_promote(tenant=self.tenant, owner_ids=ids, now=timezone.now())
        whose = "its" if owner else f"the {len(ids)} most recently active owners'"
        return f"{whose} KV is brought up into memory. It stays while there is use or room for it."

    def _demote(self, owner: Owner | None) -> str:
        ids = [owner.pk] if owner else owners_in_memory(tenant=self.tenant)
        owners_demote(tenant=self.tenant, owner_ids=ids, now=timezone.now())
        pace = f" {len(ids)} owners' in all, {AT_ONCE} a minute." if not owner else ""
        return f"its KV leaves memory and stays on disk; a chat brings it back.{pace}"

    def _drop(self, owner: Owner | None) -> str:
        after = "No fact is lost: all are sent as text until they are encoded anew, which has begun."
        if owner:
            count = owner_kv_drop(tenant=self.tenant, owner_id=owner.pk)
            return f"{count} blobs leave every tier. {after}"
        if not enqueue(DROP_TENANTS_KV, self.tenant.pk):
            raise NotOrdered("nothing was done, for Redis does not take the order. Try again in a moment.")
        return f"all its KV leaves every tier, owner by owner. {after}"


def engine_note() -> str:
    is_there = engine_state().metrics is not None
    return "" if is_there else " The engine cannot be asked now: this is done once it answers."
