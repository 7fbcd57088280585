"""The memory API's paths, as its clients spell them; health; documentation."""

from django.urls import path, re_path
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerView

from api.views.events import EventRetryView, EventsView, EventView
from api.views.health import LiveView, ReadyView
from api.views.memories import AddView, ManyMemoriesView, MemoriesView
from api.views.memory import HistoryView, MemoryView
from api.views.ping import PingView
from api.views.search import SearchView
from api.views.unknown import UnknownPathView

OPEN = {"authentication_classes": (), "permission_classes": ()}

urlpatterns = [
    path("v1/ping/", PingView.as_view(), name="ping"),
    path("v3/memories/add/", AddView.as_view(), name="memories-add"),
    path("v3/memories/search/", SearchView.as_view(), name="memories-search"),
    path("v3/memories/", MemoriesView.as_view(), name="memories"),
    path("v1/memories/", ManyMemoriesView.as_view(), name="memories-delete"),
    path("v1/memories/<str:memory_id>/", MemoryView.as_view(), name="memory"),
    path("v1/memories/<str:memory_id>/history/", HistoryView.as_view(), name="memory-history"),
    path("v1/events/", EventsView.as_view(), name="events"),
    path("v1/event/<str:event_id>/", EventView.as_view(), name="event"),
    path("v1/event/<str:event_id>/retry/", EventRetryView.as_view(), name="event-retry"),
    path("health/live", LiveView.as_view(), name="health-live"),
    path("health/ready", ReadyView.as_view(), name="health-ready"),
    path("api/schema/", SpectacularAPIView.as_view(**OPEN), name="schema"),
    path("api/docs/", SpectacularSwaggerView.as_view(**OPEN, url_name="schema"), name="docs"),
    re_path(r"^v[123]/", UnknownPathView.as_view()),
]
