"""What calls changed memory."""

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from facts.models import Event
from facts.selectors import event_get, events_list
from facts.services import extraction_retry
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from api.outputs import EventOutput, EventPageOutput
from api.pagination import Pages
from api.views.base import READ, WRITE, TenantView, parse_id
from api.views.memories import PAGE


class EventsView(TenantView):
    key_scopes = {"GET": READ}

    @extend_schema(
        summary="List events, newest first",
        parameters=PAGE,
        responses=EventPageOutput,
        operation_id="events_list",
        tags=["events"],
    )
    def get(self, request: Request) -> Response:
        pages = Pages()
        page = pages.paginate_queryset(events_list(tenant=self.tenant), request, view=self)
        return pages.get_paginated_response(EventOutput(page, many=True).data)


EVENT_ID = OpenApiParameter("event_id", OpenApiTypes.UUID, OpenApiParameter.PATH)


class EventView(TenantView):
    key_scopes = {"GET": READ}

    @extend_schema(
        operation_id="event_get", summary="One event", parameters=[EVENT_ID], responses=EventOutput, tags=["events"]
    )
    def get(self, request: Request, event_id: str) -> Response:
        return Response(EventOutput(known_event(self, event_id)).data)


class EventRetryView(TenantView):
    key_scopes = {"POST": WRITE}

    @extend_schema(
        operation_id="event_retry",
        summary="Look for facts again after a failure",
        parameters=[EVENT_ID],
        request=None,
        responses=EventOutput,
        tags=["events"],
    )
    def post(self, request: Request, event_id: str) -> Response:
        event = extraction_retry(tenant=self.tenant, event=known_event(self, event_id))
        return Response(EventOutput(event).data)


def known_event(view: TenantView, event_id: str) -> Event:
    event = event_get(tenant=view.tenant, event_id=parse_id(event_id, "event_id"))
    if event is None:
        raise NotFound(f"There is no event {event_id}.")
    return event
