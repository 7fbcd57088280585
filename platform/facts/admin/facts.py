"""Facts and their history."""

# unfold has no types, and forms.ModelForm takes none at runtime:
# mypy: disable-error-code="misc, no-any-return, type-arg, untyped-decorator, unused-ignore"

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from tenants.admin_base import EveryTenantAdmin, ReadOnlyAdmin
from unfold.decorators import display

from facts.errors import FactGoneError, InvalidInputError
from facts.models import Fact, FactHistory, FactStatus
from facts.services import fact_delete, fact_update
from facts.text import check_metadata, clean_fact_text, text_hash


class FactForm(forms.ModelForm):
    class Meta:
        model = Fact
        fields = ("text", "metadata", "expires_at")

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        try:
            if "text" in cleaned:
                cleaned["text"] = clean_fact_text(cleaned["text"])
            cleaned["metadata"] = check_metadata(cleaned.get("metadata"))
        except InvalidInputError as error:
            self.add_error(error.field, error.message)
        if "text" in self.changed_data and "text" in cleaned and self._has_twin(cleaned["text"]):
            self.add_error("text", "another memory of the same scopes has this text")
        return cleaned

    def _has_twin(self, text: str) -> bool:
        fact = self.instance
        twins = Fact.objects.filter(owner_id=fact.owner_id, hash=text_hash(text), status=FactStatus.ACTIVE)
        scopes = {"user_id": fact.user_id, "agent_id": fact.agent_id, "app_id": fact.app_id, "run_id": fact.run_id}
        return twins.filter(**scopes).exclude(pk=fact.pk).exists()


@admin.register(Fact)
class FactAdmin(EveryTenantAdmin):
    form = FactForm
    list_display = ("__str__", "owner", "tenant", "shown_status", "seq", "expires_at", "created_at")
    list_filter = ("status", "immutable", "tenant", "created_at")
    list_select_related = ("owner", "tenant")
    search_fields = ("text", "user_id", "agent_id", "app_id", "run_id")
    date_hierarchy = "created_at"
    readonly_fields = (
        *("id", "tenant", "owner", "user_id", "agent_id", "app_id", "run_id", "categories", "source_turn", "status"),
        *(
            "source_event",
            "superseded_by",
            "valid_until",
            "immutable",
            "hash",
            "seq",
            "embedding_model",
            "occurred_at",
            "created_at",
            "updated_at",
        ),
    )

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Fact | None = None) -> bool:
        changeable = obj is None or (obj.status == FactStatus.ACTIVE and not obj.immutable)
        return changeable and bool(super().has_change_permission(request, obj))

    def has_delete_permission(self, request: HttpRequest, obj: Fact | None = None) -> bool:
        deletable = obj is None or obj.status == FactStatus.ACTIVE
        return deletable and bool(super().has_delete_permission(request, obj))

    def get_deleted_objects(
        self, objs: Any, request: HttpRequest
    ) -> tuple[list[str], dict[str, int], set[str], list[str]]:
        """Only the facts: nothing cascades, since the row stays."""
        facts = [str(fact) for fact in objs]
        return facts, {"facts": len(facts)}, set(), []

    def save_model(self, request: HttpRequest, obj: Fact, form: forms.ModelForm, change: bool) -> None:
        changes = {name: form.cleaned_data[name] for name in form.changed_data}
        if changes:
            fact_update(fact=Fact.objects.get(pk=obj.pk), actor=_actor(request), **changes)

    def delete_model(self, request: HttpRequest, obj: Fact) -> None:
        fact_delete(fact=obj, actor=_actor(request))

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Fact]) -> None:
        for fact in queryset.select_related("tenant"):
            try:
                fact_delete(fact=fact, actor=_actor(request))
            except FactGoneError:
                continue  # wanted, and so

    @display(description="Status", label={"active": "success", "superseded": "warning", "deleted": "danger"})
    def shown_status(self, fact: Fact) -> str:
        return fact.status


@admin.register(FactHistory)
class FactHistoryAdmin(ReadOnlyAdmin):
    list_display = ("event", "fact_id", "old_text", "new_text", "actor", "tenant", "created_at")
    list_filter = ("event", "tenant", "created_at")
    list_select_related = ("tenant",)
    search_fields = ("fact_id", "old_text", "new_text", "actor")
    ordering = ("-created_at",)


def _actor(request: HttpRequest) -> str:
    return f"admin {request.user.get_username()}"
