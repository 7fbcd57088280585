"""What a tenant may have, filled in by staff."""

import re
from decimal import Decimal
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from tenants.models import Quota
from usage.quotas import LIMITS

UNITS = ("B", "KB", "MB", "GB", "TB", "PB")
SIZE = re.compile(rf"(?P<number>\d{{1,18}}(?:\.\d{{1,3}})?)\s*(?P<unit>{'|'.join(UNITS)})?")
LARGEST = 2**63 - 1


class BytesField(forms.CharField):
    """A number of bytes, as `500 MB`; units are decimal. Empty: None."""

    def __init__(self, **options: Any) -> None:
        super().__init__(required=False, max_length=32, **options)

    def clean(self, value: Any) -> int | None:
        text = super().clean(value)
        if not text:
            return None
        found = SIZE.fullmatch(text.strip().upper())
        if found is None:
            raise ValidationError(f"Give a number of bytes, with {', '.join(UNITS)} if wanted.")
        size = int(Decimal(found["number"]) * 1000 ** UNITS.index(found["unit"] or "B"))
        if size > LARGEST:
            raise ValidationError("That is more than can be counted.")
        return size

    def prepare_value(self, value: Any) -> Any:
        """In the largest unit in which it is a whole number."""
        if not isinstance(value, int):
            return value
        unit = max(i for i in range(len(UNITS)) if value % 1000**i == 0) if value else 0
        return f"{value // 1000**unit} {UNITS[unit]}"


class QuotaForm(forms.Form):
    """What a tenant may have; what is left empty is without limit."""

    facts = forms.IntegerField(required=False, min_value=0, max_value=LARGEST, label="Facts")
    chats_per_day = forms.IntegerField(
        required=False,
        min_value=0,
        max_value=LARGEST,
        label="Chats a day",
        help_text="Days and months are those of UTC.",
    )
    chats_per_month = forms.IntegerField(required=False, min_value=0, max_value=LARGEST, label="Chats a month")
    kv_disk_bytes = BytesField(label="KV on disk", help_text="Facts beyond it are sent as text. For example 500 MB.")
    kv_host_bytes = BytesField(label="KV in host memory", help_text="On each rank; the least recently used leave it.")
    kv_gpu_bytes = BytesField(label="KV in GPU memory", help_text="On each rank; the least recently used leave it.")

    @classmethod
    def of(cls, quota: Quota) -> "QuotaForm":
        return cls(initial={name: getattr(quota, name) for name in LIMITS})

    def changes_to(self, quota: Quota) -> dict[str, int | None]:
        return {name: limit for name, limit in self.cleaned_data.items() if getattr(quota, name) != limit}
