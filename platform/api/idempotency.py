"""A request that a client sends again does its work once and is answered alike.

The key's row is written in the transaction of the work: of two equal requests at once the second waits for the first
and is given its answer. What fails is rolled back with its row, so that it can be tried again.
"""

import hashlib
import json
from collections.abc import Callable
from datetime import datetime, timedelta

from django.db import transaction
from rest_framework import status
from rest_framework.exceptions import APIException, ValidationError
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from tenants.models import ApiKey, Tenant
from tenants.scope import every_tenant, tenant_scope

from api.models import KeptAnswer

HEADER = "Idempotency-Key"
KEPT = timedelta(hours=24)
MAX_KEY = 255


class KeyReused(APIException):
    status_code = status.HTTP_422_UNPROCESSABLE_ENTITY
    default_detail = f"This {HEADER} came with another request before. Use a new one for each request."
    default_code = "idempotency_key_reused"


def idempotency_key(request: Request) -> str:
    """'' where none is sent."""
    key = str(request.headers.get(HEADER, "")).strip()
    if len(key) > MAX_KEY or not key.isprintable():
        raise ValidationError({HEADER: [f"Must be at most {MAX_KEY} printable characters."]})
    return key


def fingerprint(request: Request) -> str:
    """Taken before the body is parsed, which would consume it."""
    digest = hashlib.sha256(f"{request.method} {request.get_full_path()}\n".encode(errors="surrogatepass"))
    digest.update(request._request.body)
    return digest.hexdigest()


def answer_once(*, api_key: ApiKey, key: str, fingerprint: str, work: Callable[[], Response]) -> Response:
    """Raises KeyReused, and what `work` raises."""
    row = KeptAnswer(tenant_id=api_key.tenant_id, api_key=api_key, key=key, fingerprint=fingerprint)
    with tenant_scope(api_key.tenant), transaction.atomic():
        KeptAnswer.objects.bulk_create([row], ignore_conflicts=True)
        kept = KeptAnswer.objects.get(api_key=api_key, key=key)
        if kept.pk == row.pk:
            response = work()
            body = JSONRenderer().render(response.data).decode()
            KeptAnswer.objects.filter(pk=row.pk).update(status=response.status_code, body=body)
            return response
    if kept.fingerprint != fingerprint:
        raise KeyReused
    data = json.loads(kept.body) if kept.body else None
    return Response(data, status=kept.status, headers={"Idempotency-Replayed": "true"})


def kept_answers_erase(*, tenant: Tenant) -> None:
    """They may repeat texts that must go."""
    with tenant_scope(tenant):
        KeptAnswer.objects.all().delete()


def kept_answers_expire(*, now: datetime) -> int:
    with every_tenant():
        return KeptAnswer.objects.filter(created_at__lt=now - KEPT).delete()[0]
