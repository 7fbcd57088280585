"""Answers about keys, usage and the audit trail."""

from rest_framework import serializers
from tenants.models import ApiKey, AuditEntry

from api.outputs import PageOutput, Raw


class KeyOutput(serializers.ModelSerializer[ApiKey]):
    scopes = serializers.ListField(child=serializers.CharField())

    class Meta:
        model = ApiKey
        fields: tuple[str, ...] = (
            "id",
            "name",
            "prefix",
            "scopes",
            "requests_per_minute",
            "user_field_enables_memory",
            "expires_at",
            "revoked_at",
            "last_used_at",
            "created_at",
        )
        read_only_fields = fields


class NewKeyOutput(KeyOutput):
    """In `context`: the key itself."""

    key = serializers.SerializerMethodField(help_text="Shown now and never again")

    class Meta(KeyOutput.Meta):
        fields = (*KeyOutput.Meta.fields, "key")
        read_only_fields = fields

    def get_key(self, api_key: ApiKey) -> str:
        return str(self.context["key"])


class KeyPageOutput(PageOutput):
    results = KeyOutput(many=True)


class AuditOutput(serializers.ModelSerializer[AuditEntry]):
    details = serializers.DictField()

    class Meta:
        model = AuditEntry
        fields = ("id", "actor", "action", "target", "details", "created_at")
        read_only_fields = fields


class AuditPageOutput(PageOutput):
    results = AuditOutput(many=True)


class StoredOutput(Raw):
    memories = serializers.IntegerField()
    owners = serializers.IntegerField(help_text="with at least one memory")
    encoded = serializers.IntegerField(help_text="memories whose KV is ready")
    bytes = serializers.IntegerField(help_text="of KV in the store")


class QuotaOutput(Raw):
    name = serializers.CharField()
    limit = serializers.IntegerField(allow_null=True, help_text="set by the platform's operators; null: none")
    used = serializers.IntegerField(allow_null=True, help_text="now, or in this day or month of UTC; null: not counted")


class DayOutput(Raw):
    day = serializers.DateField(help_text="in UTC")
    chats = serializers.IntegerField()
    prompt_tokens = serializers.IntegerField()
    injected_tokens = serializers.IntegerField(help_text="planned")
    output_tokens = serializers.IntegerField()
    changes = serializers.DictField(child=serializers.IntegerField(), help_text="Events by type")


class UsageOutput(Raw):
    since = serializers.DateTimeField()
    until = serializers.DateTimeField()
    stored = StoredOutput(help_text="now")
    quotas = QuotaOutput(many=True)
    total = DayOutput(help_text="of all days; `day` is the last")
    days = DayOutput(many=True)
