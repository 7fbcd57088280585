"""Profiles of users: settings, reading, and the jobs that make them."""

import json
from typing import Any

from django.db import transaction
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from facts.models import ProfileStatus
from facts.profiles import profile_get, profiles_ask
from facts.selectors import entities_list, entity_get
from jobs.models import JobKind
from jobs.selectors import job_get, job_refusals
from jobs.services import NewPart, job_create
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from tenants.models import ProjectSettings
from tenants.selectors import project_settings
from tenants.services import project_settings_update

from api.inputs.profiles import Operation, ProfileJobInput, ProfileSettingsInput
from api.outputs.profiles import (
    ProfileJobCreatedOutput,
    ProfileJobWrapOutput,
    ProfileOutput,
    ProfileSettingsOutput,
)
from api.views.base import ADMIN, READ, WRITE, TenantView, parse_id
from api.views.entities import erase_entity

USER = OpenApiParameter("name", str, OpenApiParameter.PATH)
JOB = OpenApiParameter("job_id", OpenApiTypes.UUID, OpenApiParameter.PATH)
JOBS = "/v2/profiles/jobs/"


class ProfileSettingsView(TenantView):
    key_scopes = {"GET": READ, "POST": ADMIN}

    @extend_schema(
        operation_id="profile_settings_get",
        summary="How profiles are made",
        responses=ProfileSettingsOutput,
        tags=["profiles"],
    )
    def get(self, request: Request) -> Response:
        return Response(_settings_answer(project_settings(tenant=self.tenant)))

    @extend_schema(
        operation_id="profile_settings_set",
        summary="Change how profiles are made",
        description="What is left out stays; null takes a schema or instructions away.",
        request=ProfileSettingsInput,
        responses=ProfileSettingsOutput,
        tags=["profiles"],
    )
    def post(self, request: Request) -> Response:
        changes = ProfileSettingsInput.checked(request.data)
        settings = project_settings_update(tenant=self.tenant, changes=changes, actor=self.caller.actor)
        return Response(_settings_answer(settings))


@extend_schema(parameters=[USER], tags=["profiles"])
class ProfileView(TenantView):
    key_scopes = {"GET": READ, "POST": WRITE, "DELETE": WRITE}

    @extend_schema(operation_id="profile_get", summary="A user's profile", responses=ProfileOutput)
    def get(self, request: Request, name: str) -> Response:
        _known_user(self, name)
        profile = profile_get(tenant=self.tenant, user_id=name)
        enabled = project_settings(tenant=self.tenant).profiles_enabled
        status = profile.status if profile else ProfileStatus.INSUFFICIENT
        answer = {
            "profile": (profile.text or None) if profile else None,
            "status": status if enabled else "not_enabled",
            "error": profile.error if profile else "",
            "entity_type": "user",
            "entity_id": name,
            "updated_at": profile.updated_at if profile else None,
            "generation_count": profile.generation_count if profile else 0,
        }
        return Response(ProfileOutput(answer).data)

    @extend_schema(
        operation_id="profile_generate",
        summary="Make a user's profile now",
        request=None,
        responses={202: ProfileJobCreatedOutput},
    )
    def post(self, request: Request, name: str) -> Response:
        _known_user(self, name)
        return _start(self, Operation.TRIGGER, [name])

    @extend_schema(exclude=True)
    def delete(self, request: Request, name: str) -> Response:
        """A profile is not deleted: the path names the user "<name>/profile", which the URL map cannot tell apart."""
        return erase_entity(self, "user", f"{name}/profile")


class ProfileJobsView(TenantView):
    key_scopes = {"POST": WRITE}

    @extend_schema(
        operation_id="profile_job_create",
        summary="Make profiles: of one user, or of a few to see what they are like",
        request=ProfileJobInput,
        responses={202: ProfileJobCreatedOutput},
        tags=["profiles"],
    )
    def post(self, request: Request) -> Response:
        given = ProfileJobInput.checked(request.data)
        if given["operation"] == Operation.TRIGGER:
            _known_user(self, given["entity_id"])
            return _start(self, Operation.TRIGGER, [given["entity_id"]])
        users = [entity for entity in entities_list(tenant=self.tenant) if entity.type == "user"]
        users.sort(key=lambda user: user.total_memories, reverse=True)
        return _start(self, Operation.SAMPLE, [user.name for user in users[: given["limit"]]])


class ProfileJobView(TenantView):
    key_scopes = {"GET": READ}

    @extend_schema(
        operation_id="profile_job_get",
        summary="How far a job is",
        parameters=[JOB],
        responses=ProfileJobWrapOutput,
        tags=["profiles"],
    )
    def get(self, request: Request, job_id: str) -> Response:
        job = job_get(tenant=self.tenant, kind=JobKind.PROFILES, job_id=parse_id(job_id, "job_id"))
        if job is None:
            raise NotFound(f"There is no job {job_id}.")
        reasons = [refusal["reason"] for refusal in job_refusals(job=job)]
        failed = reasons.count(ProfileStatus.FAILED)
        answer = {
            "id": job.pk,
            "status": job.state.lower(),
            "operation": job.options["operation"],
            "total": job.total,
            "completed": job.done,
            "succeeded": job.done - len(reasons),
            "failed": failed,
            "skipped": len(reasons) - failed,
            "enumeration_complete": True,
            "error": job.error,
        }
        return Response(ProfileJobWrapOutput({"job": answer}).data)


def _known_user(view: TenantView, name: str) -> None:
    if "\x00" in name or entity_get(tenant=view.tenant, kind="user", name=name) is None:
        raise NotFound(f"No memory names the user {name}.")


def _start(view: TenantView, operation: Operation, user_ids: list[str]) -> Response:
    if not project_settings(tenant=view.tenant).profiles_enabled:
        raise ValidationError({"enabled": ['Profiles are off: POST {"enabled": true} to /v2/profiles/settings/.']})
    with transaction.atomic():
        profiles_ask(tenant=view.tenant, user_ids=user_ids)
        job = job_create(
            tenant=view.tenant,
            kind=JobKind.PROFILES,
            options={"operation": operation},
            actor=view.caller.actor,
            parts=[NewPart(json.dumps({"user_id": user_id}) + "\n", 1) for user_id in user_ids],
            total=len(user_ids),
        )
    answer = {
        "job_id": job.pk,
        "event_id": job.event_id,
        "status": "queued",
        "status_url": f"{JOBS}{job.pk}/",
        "operation": operation,
        "entity_type": "user",
        "entity_count_reserved": len(user_ids),
        "entity_ids": user_ids,
        "sampled": len(user_ids) if operation == Operation.SAMPLE else 0,
        "replayed": False,
    }
    return Response(ProfileJobCreatedOutput(answer).data, status=202)


def _settings_answer(settings: ProjectSettings) -> dict[str, Any]:
    user = {"schema": settings.profile_schema, "custom_instructions": settings.profile_instructions or None}
    answer = {"enabled": settings.profiles_enabled, "capabilities": ["user"], "entities": {"user": user}}
    return dict(ProfileSettingsOutput(answer).data)
