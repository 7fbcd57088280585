"""The dashboard's addresses. What belongs to a tenant lies below its slug."""

from django.urls import include, path

from frontend.views.audit import AuditView
from frontend.views.entry import HomeView, SignInView, SignOutView
from frontend.views.fact import FactDeleteView, FactEncodeView, FactView
from frontend.views.facts import FactsBulkView, FactsView
from frontend.views.jobs import EncodingsRetryView, ExtractionJobView, JobsView, JobView
from frontend.views.keys import KeyRevokeView, KeysView
from frontend.views.kv import KvOrderView, KvView, PlatformKvView
from frontend.views.members import (
    InvitationView,
    InvitationWithdrawView,
    InviteView,
    MembersView,
    MemberView,
)
from frontend.views.overview import (
    OverviewCsvView,
    OverviewEngineView,
    OverviewView,
    PlatformCsvView,
    PlatformEngineView,
    PlatformView,
)
from frontend.views.playground import PlaygroundChatView, PlaygroundView
from frontend.views.quotas import QuotasCsvView, QuotasView
from frontend.views.recall import RecallView
from frontend.views.requests import RequestsView, RequestView
from frontend.views.settings import ExtractionView, PauseView, ResumeView, SettingsView
from frontend.views.tenants import TenantsView
from frontend.views.users import (
    ErasedView,
    ExportFileView,
    ExportView,
    OwnerEraseView,
    OwnerExportView,
    OwnerView,
    UsersView,
)
from frontend.views.welcome import ConnectProgressView, ConnectView, FirstTenantView, WelcomeView

app_name = "dashboard"

tenant = [
    path("", OverviewView.as_view(), name="overview"),
    path("engine/", OverviewEngineView.as_view(), name="overview-engine"),
    path("overview.csv", OverviewCsvView.as_view(), name="overview-csv"),
    path("connect/", ConnectView.as_view(), name="connect"),
    path("connect/progress/", ConnectProgressView.as_view(), name="connect-progress"),
    path("facts/", FactsView.as_view(), name="facts"),
    path("facts/bulk/", FactsBulkView.as_view(), name="facts-bulk"),
    path("facts/<uuid:fact_id>/", FactView.as_view(), name="fact"),
    path("facts/<uuid:fact_id>/delete/", FactDeleteView.as_view(), name="fact-delete"),
    path("facts/<uuid:fact_id>/encode/", FactEncodeView.as_view(), name="fact-encode"),
    path("users/", UsersView.as_view(), name="users"),
    path("users/<int:owner_id>/", OwnerView.as_view(), name="user"),
    path("users/<int:owner_id>/export/", OwnerExportView.as_view(), name="user-export"),
    path("users/<int:owner_id>/erase/", OwnerEraseView.as_view(), name="user-erase"),
    path("users/<int:owner_id>/erased/<uuid:event_id>/", ErasedView.as_view(), name="erased"),
    path("exports/<uuid:job_id>/", ExportView.as_view(), name="export"),
    path("exports/<uuid:job_id>/memories.jsonl", ExportFileView.as_view(), name="export-file"),
    path("recall/", RecallView.as_view(), name="recall"),
    path("playground/", PlaygroundView.as_view(), name="playground"),
    path("playground/chat/", PlaygroundChatView.as_view(), name="playground-chat"),
    path("kv/", KvView.as_view(), name="kv"),
    path("kv/order/", KvOrderView.as_view(), name="kv-order"),
    path("jobs/", JobsView.as_view(), name="jobs"),
    path("jobs/encodings/retry/", EncodingsRetryView.as_view(), name="encodings-retry"),
    path("jobs/extractions/<uuid:event_id>/", ExtractionJobView.as_view(), name="extraction-job"),
    path("jobs/<uuid:job_id>/", JobView.as_view(), name="job"),
    path("requests/", RequestsView.as_view(), name="requests"),
    path("requests/<uuid:record_id>/", RequestView.as_view(), name="request"),
    path("keys/", KeysView.as_view(), name="keys"),
    path("keys/<uuid:key_id>/revoke/", KeyRevokeView.as_view(), name="key-revoke"),
    path("members/", MembersView.as_view(), name="members"),
    path("members/invite/", InviteView.as_view(), name="invite"),
    path("members/<int:member_id>/", MemberView.as_view(), name="member"),
    path("invitations/<uuid:invitation_id>/withdraw/", InvitationWithdrawView.as_view(), name="invitation-withdraw"),
    path("settings/", SettingsView.as_view(), name="settings"),
    path("settings/extraction/", ExtractionView.as_view(), name="settings-extraction"),
    path("settings/quotas/", QuotasView.as_view(), name="settings-quotas"),
    path("quotas.csv", QuotasCsvView.as_view(), name="quotas-csv"),
    path("settings/pause/", PauseView.as_view(), name="pause"),
    path("settings/resume/", ResumeView.as_view(), name="resume"),
    path("audit/", AuditView.as_view(), name="audit"),
]

urlpatterns = [
    path("", HomeView.as_view(), name="home"),
    path("login/", SignInView.as_view(), name="login"),
    path("logout/", SignOutView.as_view(), name="logout"),
    path("welcome/", WelcomeView.as_view(), name="welcome"),
    path("welcome/tenant/", FirstTenantView.as_view(), name="first-tenant"),
    path("invitations/<str:token>/", InvitationView.as_view(), name="invitation"),
    path("tenants/", TenantsView.as_view(), name="tenants"),
    path("platform/", PlatformView.as_view(), name="platform"),
    path("platform/engine/", PlatformEngineView.as_view(), name="platform-engine"),
    path("platform/overview.csv", PlatformCsvView.as_view(), name="platform-csv"),
    path("platform/kv/", PlatformKvView.as_view(), name="platform-kv"),
    path("t/<slug:slug>/", include(tenant)),
]
