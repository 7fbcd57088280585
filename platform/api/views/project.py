"""Project settings and members. A tenant is organisation and project at once."""

from typing import Any
from uuid import UUID

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import NotFound, PermissionDenied, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from tenants.members import member_remove, member_set
from tenants.models import ProjectSettings, Tenant
from tenants.selectors import members_list, project_settings
from tenants.services import project_settings_update, tenant_close

from api.inputs import MemberEmailInput, MemberInput, ProjectUpdateInput
from api.outputs import MembersOutput, MessageOutput, ProjectOutput, ProjectUpdatedOutput
from api.views.base import ADMIN, READ, TenantView, parse_id

ORG = OpenApiParameter("org_id", OpenApiTypes.UUID, OpenApiParameter.PATH)
PROJECT = OpenApiParameter("project_id", OpenApiTypes.UUID, OpenApiParameter.PATH)


class ProjectsView(TenantView):
    key_scopes = {"POST": ADMIN}

    @extend_schema(
        operation_id="project_create",
        summary="Always refused: a key belongs to one project",
        parameters=[ORG],
        request=OpenApiTypes.OBJECT,
        responses={},
        tags=["project"],
    )
    def post(self, request: Request, org_id: str) -> Response:
        own_project(self.tenant, org_id)
        raise PermissionDenied("A key belongs to one project. The platform's staff make projects and their first keys.")


@extend_schema(parameters=[ORG, PROJECT], tags=["project"])
class ProjectView(TenantView):
    key_scopes = {"GET": READ, "PATCH": ADMIN, "DELETE": ADMIN}

    @extend_schema(
        operation_id="project_get",
        summary="The project and its settings",
        parameters=[OpenApiParameter("fields", str, many=True, description="Keys of the answer; all by default")],
        responses=ProjectOutput,
    )
    def get(self, request: Request, org_id: str, project_id: str) -> Response:
        own_project(self.tenant, org_id, project_id)
        whole = project_answer(self.tenant, project_settings(tenant=self.tenant))
        wanted = request.query_params.getlist("fields")
        if unknown := set(wanted) - whole.keys():
            raise ValidationError({"fields": [f"Unknown: {', '.join(sorted(unknown))}. Known: {', '.join(whole)}."]})
        return Response({name: whole[name] for name in wanted} if wanted else whole)

    @extend_schema(
        operation_id="project_update",
        summary="Change the project's settings",
        description="What is left out stays.",
        request=ProjectUpdateInput,
        responses=ProjectUpdatedOutput,
    )
    def patch(self, request: Request, org_id: str, project_id: str) -> Response:
        own_project(self.tenant, org_id, project_id)
        changes = ProjectUpdateInput.checked(request.data)
        settings = project_settings_update(tenant=self.tenant, changes=changes, actor=self.caller.actor)
        return Response({**project_answer(self.tenant, settings), "message": "The settings are changed."})

    @extend_schema(
        operation_id="project_close",
        summary="Close the project",
        description="Its keys work no more, this one too. What it holds stays until the platform's staff delete it.",
        responses=MessageOutput,
    )
    def delete(self, request: Request, org_id: str, project_id: str) -> Response:
        own_project(self.tenant, org_id, project_id)
        tenant_close(tenant=self.tenant, actor=self.caller.actor)
        return Response(MessageOutput({"message": "The project is closed and its keys work no more."}).data)


@extend_schema(parameters=[ORG, PROJECT], tags=["project"])
class MembersView(TenantView):
    key_scopes = {"GET": ADMIN, "POST": ADMIN, "PUT": ADMIN, "DELETE": ADMIN}

    @extend_schema(operation_id="members_list", summary="The project's members", responses=MembersOutput)
    def get(self, request: Request, org_id: str, project_id: str) -> Response:
        own_project(self.tenant, org_id, project_id)
        return Response(MembersOutput({"members": members_list(tenant=self.tenant)}).data)

    @extend_schema(
        operation_id="member_add", summary="Let an account join", request=MemberInput, responses=MessageOutput
    )
    def post(self, request: Request, org_id: str, project_id: str) -> Response:
        return self._set(request, org_id, project_id, joins=True)

    @extend_schema(
        operation_id="member_update", summary="Change a member's role", request=MemberInput, responses=MessageOutput
    )
    def put(self, request: Request, org_id: str, project_id: str) -> Response:
        return self._set(request, org_id, project_id, joins=False)

    @extend_schema(
        operation_id="member_remove",
        summary="Remove a member",
        parameters=[MemberEmailInput],
        responses=MessageOutput,
    )
    def delete(self, request: Request, org_id: str, project_id: str) -> Response:
        own_project(self.tenant, org_id, project_id)
        email = MemberEmailInput.checked(request.query_params.dict())["email"]
        member_remove(tenant=self.tenant, email=email, actor=self.caller.actor)
        return Response(MessageOutput({"message": f"{email} is no member any more."}).data)

    def _set(self, request: Request, org_id: str, project_id: str, *, joins: bool) -> Response:
        own_project(self.tenant, org_id, project_id)
        given = MemberInput.checked(request.data)
        member = member_set(tenant=self.tenant, **given, actor=self.caller.actor, joins=joins)
        return Response(MessageOutput({"message": f"{given['email']} is {member.role} now."}).data)


def own_project(tenant: Tenant, org_id: str, project_id: str | None = None) -> None:
    """Another tenant's project does not exist for this key."""
    for name, value in (("org_id", org_id), ("project_id", project_id)):
        if value is not None and parse_id(value, name) != tenant.pk:
            raise NotFound(f"There is no such project: {value}. `GET /v1/ping/` names this key's own.")


def project_answer(tenant: Tenant, settings: ProjectSettings) -> dict[str, Any]:
    tenant_id: UUID = tenant.pk
    return dict(ProjectOutput(settings, context={"id": tenant_id, "name": tenant.name}).data)
