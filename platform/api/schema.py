"""What the OpenAPI generator cannot see by itself: how a key is sent, and what every call may answer."""

# drf-spectacular's inner methods have no types:
# mypy: disable-error-code="no-untyped-call"

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse

ERROR = {
    "type": "object",
    "description": "`detail`, or the messages of each field",
    "additionalProperties": {},
    "minProperties": 1,
}
OPEN_ERRORS = {404: "There is no such thing", 405: "There is no such method", 406: "Not as JSON"}
KEY_ERRORS = {
    **OPEN_ERRORS,
    400: "The request cannot be understood",
    401: "The key is missing, unknown, expired or revoked",
    403: "The key lacks the scope",
    409: "It contradicts what is there",
    411: "The length is missing",
    413: "The body is too large, or the project's quota of memories is used up",
    415: "The body is not JSON",
    422: "It cannot be done",
    429: "Too many calls; `Retry-After` says how many seconds to wait",
    503: "The database is away; try again",
}
WRITES = ("POST", "PUT", "PATCH", "DELETE")
IDEMPOTENCY_KEY = OpenApiParameter(
    "Idempotency-Key",
    str,
    OpenApiParameter.HEADER,
    description="Names this request: sent again within 24 hours, it does its work once and is answered alike",
)


class ApiSchema(AutoSchema):
    def get_description(self) -> str:  # type: ignore[override]
        """Docstrings of views are for their readers; what clients read stands in `extend_schema`."""
        return ""

    def get_override_parameters(self) -> list[Any]:
        keeps = self._takes_a_key and getattr(self.view, "keeps_answers", False)
        return [IDEMPOTENCY_KEY] if keeps and self.method in WRITES else []

    def _get_response_bodies(self, direction: Any = "response") -> dict[str, Any]:
        """A delete here has an answer, which the generator thinks it has not."""
        method, self.method = self.method, "GET" if self.method == "DELETE" else self.method
        try:
            answers = super()._get_response_bodies(direction)
        finally:
            self.method = method
        for status, description in (KEY_ERRORS if self._takes_a_key else OPEN_ERRORS).items():
            error = OpenApiResponse(ERROR, description=description)
            answers.setdefault(str(status), self._get_response_for_code(error, str(status), direction=direction))
        return dict(answers)

    def _get_request_body(self, direction: Any = "request") -> Any:
        """Clients send batch deletes with a body."""
        if self.method != "DELETE" or not getattr(self.view, "delete_has_body", False):
            return super()._get_request_body(direction)
        self.method = "POST"
        try:
            return super()._get_request_body(direction)
        finally:
            self.method = "DELETE"

    @property
    def _takes_a_key(self) -> bool:
        return hasattr(self.view, "key_scopes")


class ApiKeyScheme(OpenApiAuthenticationExtension):
    target_class = "api.authentication.ApiKeyAuthentication"
    name = "apiKey"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, Any]:
        return {
            "type": "apiKey",
            "in": "header",
            "name": "Authorization",
            "description": "`Token isk_...` or `Bearer isk_...`",
        }
