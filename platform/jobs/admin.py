"""Admin of jobs."""

from django.contrib import admin
from tenants.admin_base import ReadOnlyAdmin

from jobs.models import Job, JobPart


@admin.register(Job)
class JobAdmin(ReadOnlyAdmin):
    list_display = ("kind", "tenant", "state", "done", "total", "refused", "error", "created_at", "updated_at")
    list_filter = ("kind", "state", "tenant")
    list_select_related = ("tenant",)
    ordering = ("-created_at",)


@admin.register(JobPart)
class JobPartAdmin(ReadOnlyAdmin):
    list_display = ("job", "number", "rows", "is_done")
    list_filter = ("is_done", "tenant")
    list_select_related = ("job",)
    exclude = ("body",)
