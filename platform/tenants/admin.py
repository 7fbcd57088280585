"""Admin of tenants, people and API keys."""

# unfold has no types, and forms.ModelForm takes none at runtime:
# mypy: disable-error-code="misc, no-any-return, type-arg, untyped-decorator, unused-ignore"

from collections.abc import Iterable
from typing import Any

from axes.models import AccessAttempt, AccessFailureLog, AccessLog
from django import forms
from django.contrib import admin, messages
from django.contrib.auth.admin import GroupAdmin as BaseGroupAdmin
from django.contrib.auth.admin import UserAdmin as BaseUserAdmin
from django.contrib.auth.models import Group, User
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from unfold.admin import ModelAdmin, TabularInline
from unfold.decorators import action, display
from unfold.forms import AdminPasswordChangeForm, UserChangeForm, UserCreationForm
from unfold.widgets import UnfoldAdminCheckboxSelectMultipleWidget

from tenants.admin_base import EveryTenantAdmin, ReadOnlyAdmin
from tenants.deletion import tenant_delete, tenant_rows_count
from tenants.models import (
    ApiKey,
    AuditEntry,
    Invitation,
    KeyScope,
    Membership,
    ProjectSettings,
    Quota,
    Tenant,
    default_key_scopes,
)
from tenants.services import api_key_create, api_key_revoke, quota_set

admin.site.unregister(User)
admin.site.unregister(Group)


class MembershipInline(TabularInline):
    model = Membership
    extra = 0
    autocomplete_fields = ("user",)


@admin.register(Tenant)
class TenantAdmin(EveryTenantAdmin):
    list_display = ("name", "slug", "strategy", "is_active", "created_at", "deleted_at")
    list_filter = ("is_active", "strategy")
    search_fields = ("name", "slug")
    prepopulated_fields = {"slug": ("name",)}
    readonly_fields = ("embedding_model", "created_at", "deleted_at")
    inlines = (MembershipInline,)

    def has_change_permission(self, request: HttpRequest, obj: Tenant | None = None) -> bool:
        is_deleted = obj is not None and obj.deleted_at is not None
        return not is_deleted and super().has_change_permission(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Tenant | None = None) -> bool:
        """One at a time and closed before, on the page that names it."""
        is_closed = obj is not None and not obj.is_active and obj.deleted_at is None
        return is_closed and super().has_delete_permission(request, obj)

    def get_deleted_objects(
        self, objs: Iterable[Tenant], request: HttpRequest
    ) -> tuple[list[str], dict[str, int], set[str], list[str]]:
        """How much goes, not each row, whose own admins let nobody delete it."""
        (tenant,) = objs
        return [f"{tenant.name}, {tenant.slug}"], tenant_rows_count(tenant=tenant), set(), []

    def delete_model(self, request: HttpRequest, obj: Tenant) -> None:
        if not tenant_delete(tenant=obj, actor=_actor(request)):
            raise PermissionDenied(f"{obj} was opened again, or is being deleted already.")

    def response_delete(self, request: HttpRequest, obj_display: str, obj_id: object) -> HttpResponse:
        said = f"{obj_display} is being deleted. It stands here until all that it had is gone."
        self.message_user(request, said, messages.SUCCESS)
        return redirect("admin:tenants_tenant_changelist")


@admin.register(Membership)
class MembershipAdmin(EveryTenantAdmin):
    list_display = ("user", "tenant", "role")
    list_filter = ("role", "tenant")
    list_select_related = ("user", "tenant")
    search_fields = ("user__username", "tenant__name")
    autocomplete_fields = ("user", "tenant")


class ApiKeyForm(forms.ModelForm):
    scopes = forms.MultipleChoiceField(
        choices=KeyScope.choices, initial=default_key_scopes, widget=UnfoldAdminCheckboxSelectMultipleWidget
    )

    class Meta:
        model = ApiKey
        fields = ("tenant", "name", "scopes", "expires_at", "requests_per_minute", "user_field_enables_memory")


@admin.register(ApiKey)
class ApiKeyAdmin(EveryTenantAdmin):
    form = ApiKeyForm
    list_display = ("name", "shown_prefix", "tenant", "scopes", "state", "expires_at", "last_used_at")
    list_filter = ("tenant", "revoked_at", "expires_at")
    list_select_related = ("tenant",)
    search_fields = ("name", "prefix", "tenant__name")
    autocomplete_fields = ("tenant",)
    readonly_fields = ("shown_prefix", "revoked_at", "last_used_at", "created_at")
    actions = ("revoke",)

    def get_readonly_fields(self, request: HttpRequest, obj: ApiKey | None = None) -> tuple[str, ...]:
        return self.readonly_fields if obj is None else (*self.readonly_fields, "tenant")

    def save_model(self, request: HttpRequest, obj: ApiKey, form: forms.ModelForm, change: bool) -> None:
        if change:
            obj.save()
            return
        fields: dict[str, Any] = {name: form.cleaned_data[name] for name in form.cleaned_data}
        created, raw = api_key_create(**fields, actor=_actor(request))
        obj.__dict__.update(created.__dict__)
        self.message_user(request, f"Copy the key now, it is not shown again: {raw}", messages.WARNING)

    @action(description="Revoke the selected keys")
    def revoke(self, request: HttpRequest, queryset: QuerySet[ApiKey]) -> None:
        for api_key in queryset.select_related("tenant"):
            api_key_revoke(api_key=api_key, actor=_actor(request))
        self.message_user(request, "The keys are revoked.", messages.SUCCESS)

    @display(description="Key")
    def shown_prefix(self, api_key: ApiKey) -> str:
        return f"{api_key.prefix}…" if api_key.prefix else "-"

    @display(label={"live": "success", "expired": "warning", "revoked": "danger"})
    def state(self, api_key: ApiKey) -> str:
        if api_key.revoked_at is not None:
            return "revoked"
        return "expired" if api_key.expires_at is not None and api_key.expires_at <= timezone.now() else "live"


@admin.register(ProjectSettings)
class ProjectSettingsAdmin(ReadOnlyAdmin):
    list_display = ("tenant", "multilingual", "profiles_enabled", "updated_at")
    list_select_related = ("tenant",)


@admin.register(Quota)
class QuotaAdmin(EveryTenantAdmin):
    """Emptied, not deleted: so the trail says who took the limits away."""

    list_display = ("tenant", "facts", "chats_per_day", "chats_per_month", "kv_disk_bytes", "updated_at")
    list_select_related = ("tenant",)
    search_fields = ("tenant__name", "tenant__slug")
    autocomplete_fields = ("tenant",)
    readonly_fields = ("updated_at",)

    def get_readonly_fields(self, request: HttpRequest, obj: Quota | None = None) -> tuple[str, ...]:
        return self.readonly_fields if obj is None else (*self.readonly_fields, "tenant")

    def save_model(self, request: HttpRequest, obj: Quota, form: forms.ModelForm, change: bool) -> None:
        limits = {name: form.cleaned_data[name] for name in form.cleaned_data if name != "tenant"}
        obj.__dict__.update(quota_set(tenant=obj.tenant, limits=limits, actor=_actor(request)).__dict__)

    def has_delete_permission(self, request: HttpRequest, obj: Quota | None = None) -> bool:
        return False


@admin.register(Invitation)
class InvitationAdmin(ReadOnlyAdmin):
    list_display = ("created_at", "tenant", "role", "email", "created_by", "expires_at", "accepted_at", "withdrawn_at")
    list_filter = ("role", "tenant")
    list_select_related = ("tenant",)
    search_fields = ("email", "created_by")


@admin.register(AuditEntry)
class AuditEntryAdmin(ReadOnlyAdmin):
    list_display = ("created_at", "tenant", "actor", "action", "target", "details")
    list_filter = ("action", "tenant")
    list_select_related = ("tenant",)
    search_fields = ("actor", "target")
    ordering = ("-created_at",)


@admin.register(AccessAttempt)
class AccessAttemptAdmin(ReadOnlyAdmin):
    """What counts against an account and an address now. Deleted, it counts no more."""

    list_display = ("attempt_time", "username", "ip_address", "failures_since_start", "path_info")
    search_fields = ("username", "ip_address")
    ordering = ("-attempt_time",)

    def has_delete_permission(self, request: HttpRequest, obj: AccessAttempt | None = None) -> bool:
        return bool(request.user.is_superuser)


@admin.register(AccessFailureLog)
class AccessFailureLogAdmin(ReadOnlyAdmin):
    list_display = ("attempt_time", "username", "ip_address", "locked_out", "path_info", "user_agent")
    list_filter = ("locked_out",)
    search_fields = ("username", "ip_address")
    ordering = ("-attempt_time",)


@admin.register(AccessLog)
class AccessLogAdmin(ReadOnlyAdmin):
    list_display = ("attempt_time", "username", "ip_address", "logout_time", "path_info", "user_agent")
    search_fields = ("username", "ip_address")
    ordering = ("-attempt_time",)


@admin.register(User)
class UserAdmin(BaseUserAdmin, EveryTenantAdmin):
    form = UserChangeForm
    add_form = UserCreationForm
    change_password_form = AdminPasswordChangeForm


@admin.register(Group)
class GroupAdmin(BaseGroupAdmin, ModelAdmin):
    pass


def _actor(request: HttpRequest) -> str:
    return f"user:{request.user.get_username()}"
