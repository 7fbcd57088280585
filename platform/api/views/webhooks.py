"""Calls on webhooks and their delivery log."""

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response
from webhooks.models import Webhook
from webhooks.selectors import deliveries_list, webhook_get, webhooks_list
from webhooks.services import webhook_create, webhook_delete, webhook_update

from api.inputs.webhooks import WebhookInput
from api.outputs import MessageOutput
from api.outputs.webhooks import DeliveryOutput, DeliveryPageOutput, NewWebhookOutput, WebhookOutput
from api.pagination import Pages
from api.views.base import ADMIN, TenantView
from api.views.memories import PAGE
from api.views.project import PROJECT, own_project

WEBHOOK = OpenApiParameter("webhook_id", OpenApiTypes.INT, OpenApiParameter.PATH)


@extend_schema(parameters=[PROJECT], tags=["webhooks"])
class WebhooksView(TenantView):
    key_scopes = {"GET": ADMIN, "POST": ADMIN}

    @extend_schema(operation_id="webhooks_list", summary="The project's webhooks", responses=WebhookOutput(many=True))
    def get(self, request: Request, project_id: str) -> Response:
        own_project(self.tenant, project_id)
        return Response(WebhookOutput(webhooks_list(tenant=self.tenant), many=True).data)

    @extend_schema(
        operation_id="webhook_create",
        summary="Be told what happens to memories",
        description=(
            "A POST a change, signed as the Standard Webhooks specification says (`webhook-id`, `webhook-timestamp`, "
            "`webhook-signature`) with the `secret` that is answered here and not again. What is not answered with "
            "2xx within 15 s is sent again, for about a day."
        ),
        request=WebhookInput,
        responses=NewWebhookOutput,
    )
    def post(self, request: Request, project_id: str) -> Response:
        own_project(self.tenant, project_id)
        given = {"is_active": True, **WebhookInput.checked(request.data)}
        is_active = given.pop("is_active")
        webhook = webhook_create(tenant=self.tenant, actor=self.caller.actor, **given)
        if not is_active:
            webhook = webhook_update(webhook=webhook, changes={"is_active": False}, actor=self.caller.actor)
        return Response(NewWebhookOutput(webhook).data)


@extend_schema(parameters=[WEBHOOK], tags=["webhooks"])
class WebhookView(TenantView):
    key_scopes = {"GET": ADMIN, "PUT": ADMIN, "DELETE": ADMIN}

    @extend_schema(operation_id="webhook_get", summary="One webhook", responses=WebhookOutput)
    def get(self, request: Request, webhook_id: str) -> Response:
        return Response(WebhookOutput(self._webhook(webhook_id)).data)

    @extend_schema(
        operation_id="webhook_update",
        summary="Change a webhook",
        description="What is left out stays.",
        request=WebhookInput(partial=True),
        responses=WebhookOutput,
    )
    def put(self, request: Request, webhook_id: str) -> Response:
        webhook = self._webhook(webhook_id)
        given = WebhookInput(data=request.data, partial=True)
        given.is_valid(raise_exception=True)
        webhook = webhook_update(webhook=webhook, changes=given.validated_data, actor=self.caller.actor)
        return Response(WebhookOutput(webhook).data)

    @extend_schema(operation_id="webhook_delete", summary="Delete a webhook and its log", responses=MessageOutput)
    def delete(self, request: Request, webhook_id: str) -> Response:
        webhook_delete(webhook=self._webhook(webhook_id), actor=self.caller.actor)
        return Response(MessageOutput({"message": "Webhook deleted."}).data)

    def _webhook(self, webhook_id: str) -> Webhook:
        return found_webhook(self, webhook_id)


class DeliveriesView(TenantView):
    key_scopes = {"GET": ADMIN}

    @extend_schema(
        operation_id="deliveries_list",
        summary="What became of a webhook's messages, newest first",
        parameters=[WEBHOOK, *PAGE],
        responses=DeliveryPageOutput,
        tags=["webhooks"],
    )
    def get(self, request: Request, webhook_id: str) -> Response:
        pages = Pages()
        page = pages.paginate_queryset(deliveries_list(webhook=found_webhook(self, webhook_id)), request, view=self)
        return pages.get_paginated_response(DeliveryOutput(page, many=True).data)


def found_webhook(view: TenantView, webhook_id: str) -> Webhook:
    if not (webhook_id.isascii() and webhook_id.isdigit() and len(webhook_id) <= 18):
        raise serializers.ValidationError({"webhook_id": ["Must be a whole number."]})
    webhook = webhook_get(tenant=view.tenant, webhook_id=int(webhook_id))
    if webhook is None:
        raise NotFound(f"There is no webhook {webhook_id}.")
    return webhook
