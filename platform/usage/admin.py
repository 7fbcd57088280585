"""Admin of usage."""

from django.contrib import admin
from tenants.admin_base import ReadOnlyAdmin

from usage.models import FactInjection, OwnerActivity, RequestRecord, TierHolding, TierSample


@admin.register(RequestRecord)
class RequestRecordAdmin(ReadOnlyAdmin):
    list_display = (
        *("created_at", "tenant", "owner_name", "mode", "status", "facts", "ttft_ms", "total_ms", "retrieval_ms"),
        *("prompt_tokens", "tokens_injected_planned", "cached_tokens", "output_tokens"),
    )
    list_filter = ("mode", "status", "tenant", "model")
    list_select_related = ("tenant",)
    search_fields = ("owner_name", "request_id")
    date_hierarchy = "created_at"
    ordering = ("-created_at",)


@admin.register(OwnerActivity)
class OwnerActivityAdmin(ReadOnlyAdmin):
    list_display = ("owner", "tenant", "active_at", "residence")
    list_filter = ("residence", "tenant")
    list_select_related = ("owner", "tenant")
    search_fields = ("owner__name",)
    ordering = ("-active_at",)


@admin.register(FactInjection)
class FactInjectionAdmin(ReadOnlyAdmin):
    list_display = ("fact_id", "tenant", "injected_at")
    list_filter = ("tenant",)
    list_select_related = ("tenant",)
    ordering = ("-injected_at",)


@admin.register(TierHolding)
class TierHoldingAdmin(ReadOnlyAdmin):
    list_display = ("owner", "tenant", "tier", "blobs", "bytes")
    list_filter = ("tier", "tenant")
    list_select_related = ("owner", "tenant")
    search_fields = ("owner__name",)
    ordering = ("-bytes",)


@admin.register(TierSample)
class TierSampleAdmin(ReadOnlyAdmin):
    list_display = (
        *("time", "tier", "bytes_used", "bytes", "blobs"),
        *("hits", "filled", "evicted", "lost", "lookups", "found"),
    )
    list_filter = ("tier",)
    date_hierarchy = "time"
    ordering = ("-time",)
