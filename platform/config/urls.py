"""URL map of the web process."""

from api.metrics import metrics_view
from django.contrib import admin
from django.urls import include, path

urlpatterns = [
    path("admin/", admin.site.urls),
    path("metrics", metrics_view, name="metrics"),
    path("", include("api.urls")),
    path("", include("frontend.urls")),
]
handler403 = "frontend.views.errors.refused"
handler404 = "frontend.views.errors.not_found"
handler500 = "frontend.views.errors.broken"
