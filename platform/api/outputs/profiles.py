"""Answers about profiles."""

from facts.models import ProfileStatus
from rest_framework import serializers

from api.outputs import Raw


class ProfileOutput(Raw):
    profile = serializers.CharField(allow_null=True)
    status = serializers.ChoiceField(choices=[*ProfileStatus.choices, ("not_enabled", "Not enabled")])
    error = serializers.CharField(allow_blank=True)
    entity_type = serializers.CharField()
    entity_id = serializers.CharField()
    updated_at = serializers.DateTimeField(allow_null=True)
    generation_count = serializers.IntegerField()


class UserProfileSettingsOutput(Raw):
    schema = serializers.JSONField(allow_null=True)
    custom_instructions = serializers.CharField(allow_null=True)


class EntityProfileSettingsOutput(Raw):
    user = UserProfileSettingsOutput()


class ProfileSettingsOutput(Raw):
    enabled = serializers.BooleanField()
    capabilities = serializers.ListField(child=serializers.CharField())
    entities = EntityProfileSettingsOutput()


class ProfileJobCreatedOutput(Raw):
    job_id = serializers.UUIDField()
    event_id = serializers.UUIDField()
    status = serializers.CharField()
    status_url = serializers.CharField()
    operation = serializers.CharField()
    entity_type = serializers.CharField()
    entity_count_reserved = serializers.IntegerField()
    entity_ids = serializers.ListField(child=serializers.CharField())
    sampled = serializers.IntegerField()
    replayed = serializers.BooleanField()


class ProfileJobOutput(Raw):
    id = serializers.UUIDField()
    status = serializers.CharField()
    operation = serializers.CharField()
    total = serializers.IntegerField()
    completed = serializers.IntegerField()
    succeeded = serializers.IntegerField()
    failed = serializers.IntegerField()
    skipped = serializers.IntegerField(help_text="Users with nothing to say")
    enumeration_complete = serializers.BooleanField()
    error = serializers.CharField(allow_blank=True)


class ProfileJobWrapOutput(Raw):
    job = ProfileJobOutput()
