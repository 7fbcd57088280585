"""How often a key may call."""

from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle
from rest_framework.views import APIView
from tenants.limits import call_count
from tenants.models import ApiKey


class KeyThrottle(BaseThrottle):
    def __init__(self) -> None:
        self._wait = 0

    def allow_request(self, request: Request, view: APIView) -> bool:
        if isinstance(request.auth, ApiKey):
            self._wait = call_count(request.auth)
        return not self._wait

    def wait(self) -> float | None:
        """Seconds, sent as Retry-After."""
        return self._wait
