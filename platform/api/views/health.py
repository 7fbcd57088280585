"""Probes, open to all: is the process alive, and can it serve."""

from config.health import service_states
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from api.outputs import HealthOutput


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
        checks = service_states()
        ready = checks["database"] == "ok"
        return Response({"status": "ok" if ready else "away", "checks": checks}, status=200 if ready else 503)
