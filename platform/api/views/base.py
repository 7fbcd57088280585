"""What all calls made with a key share: authentication, key scopes, limits, the tenant scope, idempotency."""

from contextlib import ExitStack
from functools import partial
from typing import Any, ClassVar
from uuid import UUID

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from rest_framework.exceptions import ValidationError
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView
from tenants.models import KeyScope, Tenant
from tenants.scope import tenant_scope

from api.authentication import KeyHolder
from api.idempotency import answer_once, fingerprint, idempotency_key
from api.parsers import LengthMissing
from api.permissions import HasKeyScope
from api.throttles import KeyThrottle

READ, WRITE, ADMIN = KeyScope.READ.value, KeyScope.WRITE.value, KeyScope.ADMIN.value

WRITES = ("POST", "PUT", "PATCH", "DELETE")


class TenantView(APIView):
    """Handlers run inside the scope of the key's tenant; nothing of another tenant can be read by mistake."""

    permission_classes = (IsAuthenticated, HasKeyScope)
    throttle_classes = (KeyThrottle,)
    keeps_answers: ClassVar[bool] = True  # for requests that name themselves; no view whose answer holds a key may
    key_scopes: ClassVar[dict[str, str | None]] = {}

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        with ExitStack() as self.open_scopes:
            return super().dispatch(request, *args, **kwargs)

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        if "HTTP_TRANSFER_ENCODING" in request.META and not request.META.get("CONTENT_LENGTH"):
            raise LengthMissing  # it would be read as an empty body
        self.open_scopes.enter_context(tenant_scope(self.tenant))
        method = str(request.method)
        if self.keeps_answers and method in WRITES and method in self.key_scopes and (key := idempotency_key(request)):
            self._answer_once(request, key)

    def _answer_once(self, request: Request, key: str) -> None:
        """Put the handler that `dispatch` looks up next behind the key."""
        name = str(request.method).lower()
        handler, asked = getattr(self, name), fingerprint(request)

        def once(request: Request, *args: Any, **kwargs: Any) -> Response:
            work = partial(handler, request, *args, **kwargs)
            return answer_once(api_key=self.caller.api_key, key=key, fingerprint=asked, work=work)

        setattr(self, name, once)

    @property
    def caller(self) -> KeyHolder:
        holder = self.request.user
        assert isinstance(holder, KeyHolder), "a permission let a call without a key through"
        return holder

    @property
    def tenant(self) -> Tenant:
        return self.caller.tenant


def parse_id(value: str, name: str) -> UUID:
    try:
        return UUID(value)
    except ValueError:
        raise ValidationError({name: ["Must be a UUID, like 123e4567-e89b-12d3-a456-426614174000."]}) from None
