"""What a key may do: the scopes it was made with."""

from rest_framework.exceptions import PermissionDenied
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.views import APIView
from tenants.models import ApiKey


class HasKeyScope(BasePermission):
    """The view names in `key_scopes` what each method needs, None for any valid key; a method left out is closed."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        api_key, method = request.auth, str(request.method)
        if not isinstance(api_key, ApiKey):
            return False
        method = "GET" if method == "HEAD" else method
        if method not in view.key_scopes:  # type: ignore[attr-defined]
            return method == "OPTIONS" or not hasattr(view, method.lower())  # the view's own 405
        needed = view.key_scopes[method]  # type: ignore[attr-defined]
        if needed and needed not in api_key.scopes:
            raise PermissionDenied(f'This key lacks the scope "{needed}". Use a key that has it.')
        return True
