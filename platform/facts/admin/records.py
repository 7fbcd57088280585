"""Owners, turns, encodings, events."""

# unfold has no types, and forms.ModelForm takes none at runtime:
# mypy: disable-error-code="misc, no-any-return, type-arg, untyped-decorator, unused-ignore"

from itertools import groupby

from django.contrib import admin, messages
from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest
from tenants.admin_base import ReadOnlyAdmin
from unfold.decorators import action, display

from facts.errors import InvalidInputError
from facts.models import Encoding, Event, Feedback, Owner, Profile, Summary, Turn
from facts.services import encodings_remake, extraction_retry


@admin.register(Owner)
class OwnerAdmin(ReadOnlyAdmin):
    list_display = ("name", "kind", "tenant", "active_facts", "change_seq", "erasure_epoch", "created_at")
    list_filter = ("kind", "tenant")
    list_select_related = ("tenant",)
    search_fields = ("name",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Owner]:
        return super().get_queryset(request).annotate(fact_count=Count("facts", filter=Q(facts__status="active")))

    @display(description="Facts", ordering="fact_count")
    def active_facts(self, owner: Owner) -> int:
        return int(getattr(owner, "fact_count", 0))


@admin.register(Turn)
class TurnAdmin(ReadOnlyAdmin):
    list_display = ("__str__", "owner", "tenant", "run_id", "occurred_at")
    list_filter = ("role", "tenant", "occurred_at")
    list_select_related = ("owner", "tenant")
    search_fields = ("content", "run_id", "owner__name")
    ordering = ("-created_at",)


@admin.register(Encoding)
class EncodingAdmin(ReadOnlyAdmin):
    list_display = (
        "shown_fact",
        "owner",
        "tenant",
        "shown_state",
        "strategy",
        "tokens",
        "attempts",
        "refreshes",
        "error",
        "updated_at",
    )
    list_filter = ("state", "strategy", "tenant", "fingerprint")
    list_select_related = ("fact", "owner", "tenant")
    search_fields = ("key", "fact__text", "owner__name", "error")
    ordering = ("-updated_at",)
    actions = ("encode_again",)

    @action(description="Drop the selected encodings and encode again", permissions=["encode"])
    def encode_again(self, request: HttpRequest, queryset: QuerySet[Encoding]) -> None:
        chosen = queryset.select_related("tenant").order_by("tenant_id", "owner_id")
        marked = 0
        for tenant, group in groupby(chosen, key=lambda encoding: encoding.tenant):
            marked += encodings_remake(tenant=tenant, ids=[encoding.pk for encoding in group])
        self.message_user(request, f"{marked} encodings are dropped and made again.", messages.SUCCESS)

    def has_encode_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.is_superuser)

    @display(description="Fact")
    def shown_fact(self, encoding: Encoding) -> str:
        return str(encoding.fact) if encoding.fact else "encoding header"

    @display(description="State", label={"ready": "success", "pending": "info", "stale": "warning", "failed": "danger"})
    def shown_state(self, encoding: Encoding) -> str:
        return encoding.state


@admin.register(Event)
class EventAdmin(ReadOnlyAdmin):
    list_display = ("event_type", "status", "tenant", "error", "started_at", "completed_at")
    list_filter = ("event_type", "status", "tenant")
    list_select_related = ("tenant",)
    ordering = ("-created_at",)
    actions = ("extract_again",)

    @action(description="Look for the selected adds' facts again", permissions=["extract"])
    def extract_again(self, request: HttpRequest, queryset: QuerySet[Event]) -> None:
        sent = 0
        for event in queryset.select_related("tenant"):
            try:
                extraction_retry(tenant=event.tenant, event=event)
                sent += 1
            except InvalidInputError as error:
                self.message_user(request, f"{event}: {error.message}", messages.WARNING)
        self.message_user(request, f"{sent} jobs are tried again.", messages.SUCCESS)

    def has_extract_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.is_superuser)


@admin.register(Feedback)
class FeedbackAdmin(ReadOnlyAdmin):
    list_display = ("fact", "verdict", "reason", "actor", "tenant", "created_at")
    list_filter = ("verdict", "tenant")
    list_select_related = ("fact", "tenant")
    ordering = ("-created_at",)


@admin.register(Profile)
class ProfileAdmin(ReadOnlyAdmin):
    list_display = ("user_id", "status", "generation_count", "error", "tenant", "updated_at")
    list_filter = ("status", "tenant")
    list_select_related = ("tenant",)
    search_fields = ("user_id",)
    ordering = ("-updated_at",)


@admin.register(Summary)
class SummaryAdmin(ReadOnlyAdmin):
    list_display = ("__str__", "status", "error", "tenant", "updated_at")
    list_filter = ("status", "tenant")
    list_select_related = ("tenant",)
    ordering = ("-updated_at",)
