"""Keys, usage and the audit trail: what a tenant's administrator looks after."""

from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response
from tenants.selectors import api_key_get, api_keys_list, audit_list
from tenants.services import api_key_create, api_key_revoke
from usage.quotas import quota_states
from usage.summary import stored_usage, usage_by_day, usage_total

from api.inputs.keys import KeyInput, UsageQuery
from api.outputs.keys import AuditOutput, AuditPageOutput, KeyOutput, KeyPageOutput, NewKeyOutput, UsageOutput
from api.pagination import Pages
from api.views.base import ADMIN, READ, TenantView, parse_id
from api.views.memories import PAGE


class KeysView(TenantView):
    key_scopes = {"GET": ADMIN, "POST": ADMIN}
    keeps_answers = False

    @extend_schema(
        operation_id="keys_list",
        summary="The project's keys, newest first",
        parameters=PAGE,
        responses=KeyPageOutput,
        tags=["keys"],
    )
    def get(self, request: Request) -> Response:
        pages = Pages()
        page = pages.paginate_queryset(api_keys_list(tenant=self.tenant), request, view=self)
        return pages.get_paginated_response(KeyOutput(page, many=True).data)

    @extend_schema(
        operation_id="key_create", summary="Make a key", request=KeyInput, responses={201: NewKeyOutput}, tags=["keys"]
    )
    def post(self, request: Request) -> Response:
        given = KeyInput.checked(request.data)
        api_key, raw = api_key_create(tenant=self.tenant, actor=self.caller.actor, **given)
        return Response(NewKeyOutput(api_key, context={"key": raw}).data, status=201)


class KeyView(TenantView):
    key_scopes = {"DELETE": ADMIN}

    @extend_schema(
        operation_id="key_revoke",
        summary="Revoke a key",
        description="It works no more, with the next request; its record stays.",
        parameters=[OpenApiParameter("key_id", OpenApiTypes.UUID, OpenApiParameter.PATH)],
        responses=KeyOutput,
        tags=["keys"],
    )
    def delete(self, request: Request, key_id: str) -> Response:
        api_key = api_key_get(tenant=self.tenant, key_id=parse_id(key_id, "key_id"))
        if api_key is None:
            raise NotFound(f"There is no key {key_id}.")
        api_key_revoke(api_key=api_key, actor=self.caller.actor)
        return Response(KeyOutput(api_key).data)


class UsageView(TenantView):
    key_scopes = {"GET": READ}

    @extend_schema(
        operation_id="usage_get",
        summary="What the project stores and used, by day, and its quotas",
        parameters=[UsageQuery],
        responses=UsageOutput,
        tags=["keys"],
    )
    def get(self, request: Request) -> Response:
        period = UsageQuery.checked(request.query_params.dict())
        days = usage_by_day(tenant=self.tenant, **period)
        total = usage_total(days, last=period["until"].date())
        stored, quotas = stored_usage(tenant=self.tenant), quota_states(tenant=self.tenant, now=timezone.now())
        answer = {**period, "stored": stored, "quotas": quotas, "total": total, "days": days}
        return Response(UsageOutput(answer).data)


class AuditView(TenantView):
    key_scopes = {"GET": ADMIN}

    @extend_schema(
        operation_id="audit_list",
        summary="What was done to keys, members, settings and webhooks, newest first",
        parameters=PAGE,
        responses=AuditPageOutput,
        tags=["keys"],
    )
    def get(self, request: Request) -> Response:
        pages = Pages()
        page = pages.paginate_queryset(audit_list(tenant=self.tenant), request, view=self)
        return pages.get_paginated_response(AuditOutput(page, many=True).data)
