"""The call with which clients check their key."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from api.outputs import PingOutput
from api.views.base import TenantView


class PingView(TenantView):
    key_scopes = {"GET": None}

    @extend_schema(operation_id="ping", summary="Check the key", responses=PingOutput, tags=["keys"])
    def get(self, request: Request) -> Response:
        tenant_id = self.tenant.id
        # a tenant is both organisation and project; a key belongs to a tenant, not to a person with an address
        answer = {"status": "ok", "org_id": tenant_id, "project_id": tenant_id, "user_email": None}
        return Response(PingOutput(answer).data)
