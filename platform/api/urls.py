"""The memory API's paths, as its clients spell them; health; documentation."""

from django.urls import path, re_path
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerView

from api.views.batch import BatchView
from api.views.entities import EntitiesView, EntityView
from api.views.events import EventRetryView, EventsView, EventView
from api.views.feedback import FeedbackView
from api.views.health import LiveView, ReadyView
from api.views.keys import AuditView, KeysView, KeyView, UsageView
from api.views.memories import AddView, MemoriesView
from api.views.memory import HistoryView, MemoryView
from api.views.older import OlderMemoriesView, OlderSearchView, SecondMemoriesView
from api.views.ping import PingView
from api.views.profiles import ProfileJobsView, ProfileJobView, ProfileSettingsView, ProfileView
from api.views.project import MembersView, ProjectsView, ProjectView
from api.views.search import SearchView
from api.views.summary import SummaryView
from api.views.transfers import DownloadView, ExportGetView, ExportsView, ExportView, ImportsView, ImportView
from api.views.unknown import UnknownPathView
from api.views.webhooks import DeliveriesView, WebhooksView, WebhookView

PROJECTS = "api/v1/orgs/organizations/<str:org_id>/projects/"
OPEN = {"authentication_classes": (), "permission_classes": ()}

urlpatterns = [
    path("v1/ping/", PingView.as_view(), name="ping"),
    path("v3/memories/add/", AddView.as_view(), name="memories-add"),
    path("v3/memories/search/", SearchView.as_view(), name="memories-search"),
    path("v3/memories/", MemoriesView.as_view(), name="memories"),
    path("v1/memories/", OlderMemoriesView.as_view(), name="memories-v1"),
    path("v1/memories/search/", OlderSearchView.as_view(), name="memories-search-v1"),
    path("v2/memories/", SecondMemoriesView.as_view(), name="memories-v2"),
    path("v2/memories/search/", OlderSearchView.as_view(), name="memories-search-v2"),
    path("v1/memories/<str:memory_id>/", MemoryView.as_view(), name="memory"),
    path("v1/memories/<str:memory_id>/history/", HistoryView.as_view(), name="memory-history"),
    path("v1/events/", EventsView.as_view(), name="events"),
    path("v1/event/<str:event_id>/", EventView.as_view(), name="event"),
    path("v1/event/<str:event_id>/retry/", EventRetryView.as_view(), name="event-retry"),
    path("v1/batch/", BatchView.as_view(), name="batch"),
    path("v1/entities/", EntitiesView.as_view(), name="entities"),
    path("v2/entities/user/<path:name>/profile/", ProfileView.as_view(), name="profile"),
    path("v2/entities/<str:entity_type>/<path:name>/", EntityView.as_view(), name="entity"),
    path("v1/feedback/", FeedbackView.as_view(), name="feedback"),
    path("v2/profiles/settings/", ProfileSettingsView.as_view(), name="profile-settings"),
    path("v2/profiles/jobs/", ProfileJobsView.as_view(), name="profile-jobs"),
    path("v2/profiles/jobs/<str:job_id>/", ProfileJobView.as_view(), name="profile-job"),
    path("v1/exports/", ExportsView.as_view(), name="exports"),
    path("v1/exports/get/", ExportGetView.as_view(), name="export-get"),
    path("v1/exports/<str:export_id>/", ExportView.as_view(), name="export"),
    path("v1/exports/<str:export_id>/download/", DownloadView.as_view(), name="export-download"),
    path("v1/imports/", ImportsView.as_view(), name="imports"),
    path("v1/imports/<str:import_id>/", ImportView.as_view(), name="import"),
    path("v1/keys/", KeysView.as_view(), name="keys"),
    path("v1/keys/<str:key_id>/", KeyView.as_view(), name="key"),
    path("v1/usage/", UsageView.as_view(), name="usage"),
    path("v1/audit/", AuditView.as_view(), name="audit"),
    path("v1/summary/", SummaryView.as_view(), name="summary"),
    path(f"{PROJECTS}", ProjectsView.as_view(), name="projects"),
    path(f"{PROJECTS}<str:project_id>/", ProjectView.as_view(), name="project"),
    path(f"{PROJECTS}<str:project_id>/members/", MembersView.as_view(), name="members"),
    path("api/v1/webhooks/projects/<str:project_id>/", WebhooksView.as_view(), name="webhooks"),
    path("api/v1/webhooks/<str:webhook_id>/", WebhookView.as_view(), name="webhook"),
    path("api/v1/webhooks/<str:webhook_id>/deliveries/", DeliveriesView.as_view(), name="deliveries"),
    path("health/live", LiveView.as_view(), name="health-live"),
    path("health/ready", ReadyView.as_view(), name="health-ready"),
    path("api/schema/", SpectacularAPIView.as_view(**OPEN), name="schema"),
    path("api/docs/", SpectacularSwaggerView.as_view(**OPEN, url_name="schema"), name="docs"),
    re_path(r"^(?:v[123]|api/v1)/", UnknownPathView.as_view()),
]
