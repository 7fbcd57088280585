"""What people fill in. Refusals name the field and say what it takes."""

from datetime import datetime, timedelta
from typing import Any, cast

from config.values import STRATEGY, STRATEGY_FORMS
from django import forms
from django.conf import settings
from django.contrib.auth.password_validation import validate_password
from django.contrib.auth.validators import UnicodeUsernameValidator
from django.core.exceptions import ValidationError
from django.utils import timezone
from facts.models import Fact, OwnerKind
from facts.reranking import can_rerank
from facts.selectors import FactFilter
from tenants.models import KeyScope, Role, default_key_scopes
from usage.selectors import OUTCOMES, RequestFilter

from frontend.charts import MODE_NAMES

NEVER = ""
LIVES = {NEVER: "Never", "7": "In 7 days", "30": "In 30 days", "90": "In 90 days", "365": "In a year"}
SCOPE_NOTES = {
    KeyScope.READ: "find and list memories",
    KeyScope.WRITE: "store, change and delete them",
    KeyScope.CHAT: "use the chat API",
    KeyScope.ADMIN: "manage keys, members and settings",
}


class TenantForm(forms.Form):
    name = forms.CharField(
        max_length=255, label="Name", help_text="As people will see it, for example your application's."
    )


class SettingsForm(TenantForm):
    strategy = forms.CharField(
        max_length=64,
        label="Encoding strategy",
        help_text="What a fact is encoded behind, for example neighbours(16). A change has every fact encoded anew.",
    )

    def clean_strategy(self) -> str:
        strategy: str = self.cleaned_data["strategy"].strip()
        if not STRATEGY.fullmatch(strategy):
            raise ValidationError(f"Use {STRATEGY_FORMS}.")
        return strategy


class ExtractionForm(forms.Form):
    custom_instructions = forms.CharField(
        required=False,
        max_length=8 * 1024,
        widget=forms.Textarea(attrs={"rows": 4}),
        label="Instructions",
        help_text="Said to the model that finds facts in conversations.",
    )
    multilingual = forms.BooleanField(required=False, label="Keep facts in the language that was written")


class KeyForm(forms.Form):
    name = forms.CharField(max_length=255, label="Name", help_text="Which application will use it.")
    scopes = forms.MultipleChoiceField(
        initial=default_key_scopes,
        widget=forms.CheckboxSelectMultiple,
        label="May",
    )
    life = forms.ChoiceField(choices=list(LIVES.items()), required=False, label="Expires")
    requests_per_minute = forms.IntegerField(
        required=False,
        min_value=0,
        max_value=1_000_000,
        label="Calls a minute",
        help_text="Empty: as configured. 0: without limit.",
    )

    def __init__(self, *args: Any, for_owner: bool, **kwargs: Any) -> None:
        """An admin's key cannot be one that makes owners."""
        super().__init__(*args, **kwargs)
        scopes = cast(forms.MultipleChoiceField, self.fields["scopes"])
        scopes.choices = [
            (scope.value, f"{scope.value}: {note}")
            for scope, note in SCOPE_NOTES.items()
            if for_owner or scope != KeyScope.ADMIN
        ]

    def expires_at(self) -> datetime | None:
        life = self.cleaned_data["life"]
        return timezone.now() + timedelta(days=int(life)) if life else None


class InvitationForm(forms.Form):
    role = forms.ChoiceField(choices=Role.choices, initial=Role.VIEWER, label="Role")
    email = forms.EmailField(required=False, label="E-mail address", help_text="Whom it is for.")


class RoleForm(forms.Form):
    role = forms.ChoiceField(choices=Role.choices)


class AccountForm(forms.Form):
    """A new account."""

    username = forms.CharField(max_length=150, validators=[UnicodeUsernameValidator()], label="User name")
    password = forms.CharField(
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
        label="Password",
        help_text="At least 8 characters.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["username"].widget.attrs["autocomplete"] = "username"

    def clean_password(self) -> str:
        password: str = self.cleaned_data["password"]
        validate_password(password)
        return password


class FirstAccountForm(AccountForm):
    code = forms.CharField(
        max_length=64, label="Setup code", help_text="Printed where InferScale was started, after “first account”."
    )
    field_order = ("code", "username", "password")


class FactFilterForm(forms.Form):
    """What a list of facts shows; every field stands in the address."""

    q = forms.CharField(required=False, max_length=500, label="Search")
    by = forms.ChoiceField(
        required=False, choices=[("", "Words"), ("meaning", "Meaning")], label="By", widget=forms.Select
    )
    user = forms.CharField(required=False, max_length=255, label="User")
    agent = forms.CharField(required=False, max_length=255, label="Agent")
    app = forms.CharField(required=False, max_length=255, label="App")
    run = forms.CharField(required=False, max_length=255, label="Run")
    category = forms.CharField(required=False, max_length=255, label="Category")
    encoding = forms.ChoiceField(
        required=False,
        choices=[("", "Any"), ("ready", "Ready"), ("waiting", "Waiting"), ("failed", "Failed")],
        label="Encoding",
    )
    status = forms.ChoiceField(
        required=False,
        choices=[("", "Holds"), ("expired", "Expired"), ("superseded", "Superseded"), ("any", "Any")],
        label="State",
    )

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if cleaned.get("by") and cleaned.get("q") and not self._names(cleaned):
            self.add_error("user", "A search by meaning needs a user, agent, app or run to search among.")
        return cleaned

    @property
    def by_meaning(self) -> bool:
        return bool(self.cleaned_data.get("by"))

    @property
    def is_narrowed(self) -> bool:
        return any(self.cleaned_data.values())

    def chosen(self) -> FactFilter:
        """Of the fields that make sense."""
        self.is_valid()
        given = self.cleaned_data
        status = {"": "active", "any": ""}.get(given.get("status", ""), given.get("status", ""))
        return FactFilter(
            words=given.get("q", ""),
            names=self._names(given),
            category=given.get("category", ""),
            encoding=given.get("encoding", ""),
            status=status,
        )

    @staticmethod
    def _names(given: dict[str, Any]) -> dict[str, str]:
        return {f"{kind}_id": given[kind] for kind in OwnerKind.values if given.get(kind)}


class FactForm(forms.Form):
    """Times are in UTC."""

    text = forms.CharField(max_length=32 * 1024, widget=forms.Textarea(attrs={"rows": 3}), label="Text")
    metadata = forms.JSONField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 2, "class": "mono"}),
        label="Metadata",
        help_text="A JSON object.",
    )
    expires_at = forms.DateTimeField(
        required=False,
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M"),
        label="Expires, in UTC",
        help_text="Empty: never.",
    )

    @classmethod
    def of(cls, fact: Fact) -> "FactForm":
        return cls(initial={"text": fact.text, "metadata": fact.metadata, "expires_at": fact.expires_at})

    def clean_metadata(self) -> dict[str, Any]:
        metadata = self.cleaned_data["metadata"]
        if metadata is not None and not isinstance(metadata, dict):
            raise ValidationError('Give a JSON object such as {"source": "import"}.')
        return metadata or {}

    def changes_to(self, fact: Fact) -> list[str]:
        return [name for name in self.cleaned_data if getattr(fact, name) != self.cleaned_data[name]]


class EraseForm(forms.Form):
    """Typed out, so that nobody is erased by a slip."""

    name = forms.CharField(max_length=255, label="Name")


class RecallForm(forms.Form):
    """A question to somebody's memory; every field stands in the address."""

    user = forms.CharField(required=False, max_length=255, label="User")
    q = forms.CharField(max_length=8000, label="Question")
    k = forms.IntegerField(required=False, min_value=1, max_value=1000, label="Facts at most")
    threshold = forms.FloatField(required=False, min_value=0, max_value=1, label="Least cosine")
    rerank = forms.BooleanField(required=False, label="With the reranker")
    agent = forms.CharField(required=False, max_length=255, label="Agent")
    app = forms.CharField(required=False, max_length=255, label="App")
    run = forms.CharField(required=False, max_length=255, label="Run")
    system = forms.CharField(
        required=False, max_length=8000, widget=forms.Textarea(attrs={"rows": 2}), label="The application's prompt"
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["user"].widget.attrs |= {"list": "users", "autocomplete": "off"}
        self.fields["k"].widget.attrs["placeholder"] = settings.ENV.top_k
        self.fields["threshold"].widget.attrs |= {"step": "any", "placeholder": "any"}
        if not can_rerank():
            del self.fields["rerank"]

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if not self.errors and not self.names:
            self.add_error("user", "Name the user, agent, app or run whose memory is used.")
        return cleaned

    @property
    def names(self) -> dict[str, str]:
        """As the chat API takes them."""
        return {f"{kind}_id": name for kind in OwnerKind.values if (name := self.cleaned_data.get(kind))}

    def memory(self) -> dict[str, Any]:
        asked = self.cleaned_data
        given = {"top_k": asked["k"], "threshold": asked["threshold"], "rerank": asked.get("rerank") or None}
        return {**self.names, **{name: value for name, value in given.items() if value is not None}}

    def messages(self) -> list[dict[str, str]]:
        said = (("system", self.cleaned_data["system"]), ("user", self.cleaned_data["q"]))
        return [{"role": role, "content": text} for role, text in said if text]


class RequestFilterForm(forms.Form):
    """What a list of requests shows; every field stands in the address."""

    user = forms.CharField(required=False, max_length=255, label="User")
    mode = forms.ChoiceField(required=False, choices=[("", "Any"), *MODE_NAMES.items()], label="Mode")
    outcome = forms.ChoiceField(
        required=False, choices=[("", "Any"), *((name, name.title()) for name in OUTCOMES)], label="Outcome"
    )
    slower = forms.FloatField(required=False, min_value=0, label="First token after, ms")
    id = forms.CharField(required=False, max_length=128, label="Request id")
    fact = forms.UUIDField(required=False, widget=forms.HiddenInput, label="Fact")

    @property
    def is_narrowed(self) -> bool:
        return any(self.cleaned_data.values())

    def chosen(self) -> RequestFilter:
        """Of the fields that make sense."""
        self.is_valid()
        given = self.cleaned_data
        return RequestFilter(
            owner_name=given.get("user", ""),
            mode=given.get("mode", ""),
            outcome=given.get("outcome", ""),
            request_id=given.get("id", ""),
            at_least_ms=given.get("slower"),
            fact_id=given.get("fact"),
        )
