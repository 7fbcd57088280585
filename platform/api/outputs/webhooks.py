"""Answers about webhooks."""

from rest_framework import serializers
from webhooks.models import Delivery, Webhook

from api.outputs import PageOutput


class WebhookOutput(serializers.ModelSerializer[Webhook]):
    webhook_id = serializers.IntegerField(source="pk")
    project = serializers.UUIDField(source="tenant_id")
    event_types = serializers.ListField(child=serializers.CharField())

    class Meta:
        model = Webhook
        fields: tuple[str, ...] = (
            "webhook_id",
            "name",
            "url",
            "event_types",
            "is_active",
            "project",
            "created_at",
            "updated_at",
        )
        read_only_fields = fields


class NewWebhookOutput(WebhookOutput):
    class Meta(WebhookOutput.Meta):
        fields = (*WebhookOutput.Meta.fields, "secret")
        read_only_fields = fields


class DeliveryOutput(serializers.ModelSerializer[Delivery]):
    memory_id = serializers.UUIDField(source="fact_id")

    class Meta:
        model = Delivery
        fields = (
            "id",
            "event_id",
            "event_type",
            "memory_id",
            "state",
            "attempts",
            "status",
            "error",
            "next_at",
            "delivered_at",
            "created_at",
        )
        read_only_fields = fields


class DeliveryPageOutput(PageOutput):
    results = DeliveryOutput(many=True)
