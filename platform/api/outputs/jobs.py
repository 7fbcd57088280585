"""Answers about jobs: import, export, profiles."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from jobs.models import Job
from rest_framework import serializers

from api.outputs import Raw


class RefusalOutput(Raw):
    line = serializers.IntegerField(help_text="of the rows sent, the first is 1")
    reason = serializers.CharField()


class JobOutput(serializers.ModelSerializer[Job]):
    status = serializers.CharField(source="state")
    progress = serializers.SerializerMethodField(help_text="0 to 1")

    class Meta:
        model = Job
        fields: tuple[str, ...] = (
            "id",
            "event_id",
            "status",
            "total",
            "done",
            "refused",
            "progress",
            "error",
            "created_at",
            "updated_at",
        )
        read_only_fields = fields

    def get_progress(self, job: Job) -> float:
        if job.total:
            return min(1.0, job.done / job.total)
        return 1.0 if job.state == "SUCCEEDED" else 0.0


class ImportOutput(JobOutput):
    """In `context`: the first 1,000 refusals."""

    refusals = serializers.SerializerMethodField()

    class Meta(JobOutput.Meta):
        fields = (*JobOutput.Meta.fields, "refusals")
        read_only_fields = fields

    @extend_schema_field(RefusalOutput(many=True))
    def get_refusals(self, job: Job) -> list[dict[str, Any]]:
        refusals: list[dict[str, Any]] = self.context["refusals"]
        return refusals


class ExportCreatedOutput(Raw):
    message = serializers.CharField()
    id = serializers.UUIDField()
    event_id = serializers.UUIDField()


class ExportOutput(Raw):
    id = serializers.UUIDField()
    status = serializers.CharField()
    memories = serializers.ListField(child=serializers.DictField())
