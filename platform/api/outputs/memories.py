"""Answers about memories, entities and the project."""

from typing import Any
from uuid import UUID

from facts.models import Event, Fact, FactHistory, OwnerKind, ProfileStatus, Verdict
from facts.search import ScoredFact
from rest_framework import serializers
from tenants.models import Membership, ProjectSettings

from api.dates import format_expiration

Raw = serializers.Serializer[Any]


class AbsentOutput(serializers.CharField):
    """null for what is absent, which the database keeps as ''."""

    def to_representation(self, value: str) -> str | None:  # type: ignore[override]
        return value or None


class PageOutput(Raw):
    count = serializers.IntegerField()
    next = serializers.URLField(allow_null=True)
    previous = serializers.URLField(allow_null=True)


class MemoryOutput(serializers.ModelSerializer[Fact]):
    memory = serializers.CharField(source="text")
    user_id = AbsentOutput(allow_null=True)
    agent_id = AbsentOutput(allow_null=True)
    app_id = AbsentOutput(allow_null=True)
    run_id = AbsentOutput(allow_null=True)
    metadata = serializers.DictField()
    categories = serializers.ListField(child=serializers.CharField())
    timestamp = serializers.DateTimeField(source="occurred_at", allow_null=True)
    expiration_date = serializers.SerializerMethodField()

    class Meta:
        model = Fact
        fields = (
            "id",
            "memory",
            "user_id",
            "agent_id",
            "app_id",
            "run_id",
            "hash",
            "metadata",
            "categories",
            "immutable",
            "timestamp",
            "expiration_date",
            "created_at",
            "updated_at",
        )
        read_only_fields = fields

    def get_expiration_date(self, fact: Fact) -> str | None:
        return format_expiration(fact.expires_at)


class MemoryPageOutput(PageOutput):
    results = MemoryOutput(many=True)


class UpdatedOutput(MemoryOutput):
    text = serializers.CharField()

    class Meta(MemoryOutput.Meta):
        fields = (*MemoryOutput.Meta.fields, "text")  # type: ignore[assignment]


class FoundMemoryOutput(MemoryOutput):
    """A memory with its cosine with the query: null for one that has no vector yet.

    The breakdown has it as `semantic`, and as `rerank` the relevance that a reranker gave, where it saw the memory.
    """

    score = serializers.FloatField(allow_null=True)
    score_breakdown = serializers.DictField(child=serializers.FloatField(allow_null=True))

    class Meta(MemoryOutput.Meta):
        fields = (*MemoryOutput.Meta.fields, "score", "score_breakdown")  # type: ignore[assignment]

    def to_representation(self, found: ScoredFact) -> dict[str, Any]:  # type: ignore[override]
        memory = MemoryOutput(found.fact).data
        reranked = {} if found.relevance is None else {"rerank": found.relevance}
        return {**memory, "score": found.score, "score_breakdown": {"semantic": found.score, **reranked}}


class FoundOutput(Raw):
    results = FoundMemoryOutput(many=True)


class AddedTextOutput(Raw):
    memory = serializers.CharField()


class AddedOutput(Raw):
    id = serializers.UUIDField()
    event = serializers.CharField(help_text="ADD, or NONE for a memory that was there already")
    data = AddedTextOutput()  # type: ignore[assignment]


class AddedListOutput(Raw):
    results = AddedOutput(many=True)


class AddOutput(Raw):
    message = serializers.CharField()
    status = serializers.CharField()
    event_id = serializers.UUIDField()
    results = AddedOutput(many=True)


class MessageOutput(Raw):
    message = serializers.CharField()


class DeletedManyOutput(Raw):
    message = serializers.CharField()
    event_id = serializers.UUIDField()


class HistoryOutput(serializers.ModelSerializer[FactHistory]):
    """Of a memory that a newer one took the place of: which, and how long it held."""

    memory_id = serializers.UUIDField(source="fact_id")
    old_memory = AbsentOutput(source="old_text", allow_null=True)
    new_memory = AbsentOutput(source="new_text", allow_null=True)
    updated_at = serializers.DateTimeField(source="created_at")

    class Meta:
        model = FactHistory
        fields = (
            "id",
            "memory_id",
            "old_memory",
            "new_memory",
            "event",
            "actor",
            "superseded_by",
            "valid_from",
            "valid_until",
            "created_at",
            "updated_at",
        )
        read_only_fields = fields


class EventOutput(serializers.ModelSerializer[Event]):
    results = serializers.JSONField()
    latency = serializers.SerializerMethodField(help_text="milliseconds")

    class Meta:
        model = Event
        fields = (
            "id",
            "event_type",
            "status",
            "results",
            "error",
            "started_at",
            "completed_at",
            "latency",
            "created_at",
        )
        read_only_fields = fields

    def get_latency(self, event: Event) -> float | None:
        if event.started_at is None or event.completed_at is None:
            return None
        return (event.completed_at - event.started_at).total_seconds() * 1000


class EventPageOutput(PageOutput):
    results = EventOutput(many=True)


class EntityOutput(Raw):
    id = serializers.UUIDField()
    type = serializers.ChoiceField(choices=OwnerKind.choices)
    name = serializers.CharField()
    total_memories = serializers.IntegerField()
    created_at = serializers.DateTimeField(help_text="of its oldest memory")
    updated_at = serializers.DateTimeField(help_text="of the memory that changed last")


class EntityPageOutput(PageOutput):
    results = EntityOutput(many=True)


class FeedbackOutput(Raw):
    id = serializers.UUIDField(allow_null=True)
    memory_id = serializers.UUIDField()
    feedback = serializers.ChoiceField(choices=Verdict.choices, allow_null=True)
    feedback_reason = serializers.CharField(allow_null=True)
    message = serializers.CharField()


class SummaryOutput(Raw):
    summary = serializers.CharField(allow_blank=True)
    count = serializers.IntegerField(help_text="memories that match")
    status = serializers.ChoiceField(choices=ProfileStatus.choices)
    error = serializers.CharField(allow_blank=True, help_text="Why the model wrote none")


class ProjectOutput(serializers.ModelSerializer[ProjectSettings]):
    """In `context`: id and name of the tenant."""

    id = serializers.SerializerMethodField()
    name = serializers.SerializerMethodField()
    custom_categories = serializers.ListField(child=serializers.JSONField())
    usecase_setting = serializers.JSONField(allow_null=True)

    class Meta:
        model = ProjectSettings
        fields: tuple[str, ...] = (
            "id",
            "name",
            "custom_instructions",
            "agent_custom_instructions",
            "custom_categories",
            "multilingual",
            "decay",
            "memory_depth",
            "usecase_setting",
            "updated_at",
        )
        read_only_fields = fields

    def get_id(self, settings: ProjectSettings) -> UUID:
        tenant_id: UUID = self.context["id"]
        return tenant_id

    def get_name(self, settings: ProjectSettings) -> str:
        return str(self.context["name"])


class ProjectUpdatedOutput(ProjectOutput):
    message = serializers.CharField(read_only=True)

    class Meta(ProjectOutput.Meta):
        fields = (*ProjectOutput.Meta.fields, "message")
        read_only_fields = fields


class MemberOutput(Raw):
    username = serializers.CharField(source="user.username")
    email = serializers.CharField(source="user.email", allow_blank=True)
    role = serializers.SerializerMethodField()

    def get_role(self, membership: Membership) -> str:
        return {"viewer": "READER", "admin": "ADMIN", "owner": "OWNER"}[membership.role]


class MembersOutput(Raw):
    members = MemberOutput(many=True)


class PingOutput(Raw):
    status = serializers.CharField()
    org_id = serializers.UUIDField()
    project_id = serializers.UUIDField()
    user_email = serializers.EmailField(allow_null=True)


class HealthOutput(Raw):
    status = serializers.CharField()
    checks = serializers.DictField(child=serializers.CharField(), required=False)
