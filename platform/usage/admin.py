"""Admin of usage."""

from django.contrib import admin
from tenants.admin_base import ReadOnlyAdmin

from usage.models import OwnerActivity, RequestRecord, TierSample


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


@admin.register(TierSample)
class TierSampleAdmin(ReadOnlyAdmin):
    list_display = ("time", "tier", "bytes_used", "bytes", "hits", "filled", "evicted", "lost")
    list_filter = ("tier",)
    date_hierarchy = "time"
    ordering = ("-time",)
