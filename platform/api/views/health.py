"""Probes, open to all: is the process alive, and can it serve."""

import logging
from collections.abc import Callable

import redis
from django.conf import settings
from django.db import DatabaseError, connection
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from api.outputs import HealthOutput

logger = logging.getLogger(__name__)


class OpenView(APIView):
    authentication_classes = ()
    permission_classes = ()


class LiveView(OpenView):
    @extend_schema(operation_id="health_live", summary="The process is alive", responses=HealthOutput, tags=["health"])
    def get(self, request: Request) -> Response:
        return Response({"status": "ok"})


class ReadyView(OpenView):
    """Ready means the database answers. Redis is reported only: facts are stored and found without it."""

    @extend_schema(
        operation_id="health_ready",
        summary="The process can serve",
        responses={200: HealthOutput, 503: HealthOutput},
        tags=["health"],
    )
    def get(self, request: Request) -> Response:
        checks = {"database": _state(_database_answers), "redis": _state(_redis_answers)}
        ready = checks["database"] == "ok"
        return Response({"status": "ok" if ready else "away", "checks": checks}, status=200 if ready else 503)


def _database_answers() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")


def _redis_answers() -> None:
    with redis.Redis.from_url(settings.REDIS_URL, socket_connect_timeout=1, socket_timeout=1) as client:
        client.ping()


def _state(check: Callable[[], None]) -> str:
    try:
        check()
    except (DatabaseError, redis.RedisError) as error:
        logger.warning("%s: %s", check.__name__, error)
        return "away"
    return "ok"
