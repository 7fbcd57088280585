"""What a key may do: the scopes it was made with."""

from rest_framework.exceptions import PermissionDenied
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.views import APIView
from tenants.models import ApiKey


class HasKeyScope(BasePermission):
    """The view names in `key_scopes` the key scope of each of its methods; without one any valid key will do."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        api_key = request.auth
        if not isinstance(api_key, ApiKey):
            return False
        needed = view.key_scopes.get(request.method)  # type: ignore[attr-defined]
        if needed and needed not in api_key.scopes:
            raise PermissionDenied(f'This key lacks the scope "{needed}". Use a key that has it.')
        return True
