"""Admin of webhooks."""

from django.contrib import admin
from tenants.admin_base import ReadOnlyAdmin

from webhooks.models import Delivery, Webhook


@admin.register(Webhook)
class WebhookAdmin(ReadOnlyAdmin):
    list_display = ("name", "url", "tenant", "event_types", "is_active", "created_at")
    list_filter = ("is_active", "tenant")
    list_select_related = ("tenant",)
    search_fields = ("name", "url")
    exclude = ("secret",)


@admin.register(Delivery)
class DeliveryAdmin(ReadOnlyAdmin):
    list_display = ("event_type", "webhook", "tenant", "state", "attempts", "status", "error", "next_at", "created_at")
    list_filter = ("state", "event_type", "tenant")
    list_select_related = ("webhook", "tenant")
    ordering = ("-created_at",)
