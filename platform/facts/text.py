"""What may be stored: text cleaned to one line, metadata that PostgreSQL's jsonb takes."""

import hashlib
import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.utils import timezone

from facts.errors import InvalidInputError
from memory.text import clean_text

MAX_TEXT_BYTES = 32 * 1024
MAX_METADATA_BYTES = 32 * 1024
MAX_CATEGORIES = 100
MAX_CATEGORY = 255


def clean_fact_text(text: object, *, field: str = "text") -> str:
    """One non-empty line. Raises InvalidInputError on what is not a string, too long, or empty once cleaned."""
    if text is None:
        raise InvalidInputError(field, f"{field} must contain text")
    if not isinstance(text, str):
        raise InvalidInputError(field, f"{field} must be a string")
    if len(text) > MAX_TEXT_BYTES or len(text.encode(errors="replace")) > MAX_TEXT_BYTES:
        raise InvalidInputError(field, f"{field} must have at most {MAX_TEXT_BYTES // 1024} KB")
    cleaned = clean_text(text)
    if not cleaned:
        raise InvalidInputError(field, f"{field} must contain text")
    return cleaned


def text_hash(cleaned: str) -> str:
    return hashlib.sha256(cleaned.encode()).hexdigest()


def check_metadata(metadata: object) -> dict[str, Any]:
    """Raises InvalidInputError on what jsonb cannot hold: NUL, lone surrogates, NaN and infinities."""
    if metadata is None:
        return {}
    if not isinstance(metadata, dict):
        raise InvalidInputError("metadata", "metadata must be an object")
    try:
        encoded = json.dumps(metadata, allow_nan=False, ensure_ascii=False).encode()
    except (TypeError, ValueError, RecursionError):
        raise InvalidInputError(
            "metadata", "metadata must be JSON without NaN, infinities and lone surrogates"
        ) from None
    if b"\\u0000" in encoded:
        raise InvalidInputError("metadata", "metadata must not contain NUL characters")
    if len(encoded) > MAX_METADATA_BYTES:
        raise InvalidInputError("metadata", f"metadata must have at most {MAX_METADATA_BYTES // 1024} KB as JSON")
    return metadata


def check_future(expires_at: datetime | None) -> datetime | None:
    if expires_at is not None and expires_at <= timezone.now():
        raise InvalidInputError("expiration_date", "expiration_date must lie in the future")
    return expires_at


def clean_categories(categories: Sequence[object] | None) -> list[str]:
    if categories is None:
        return []
    if isinstance(categories, str) or len(categories) > MAX_CATEGORIES:
        raise InvalidInputError("categories", f"categories must be a list of at most {MAX_CATEGORIES} strings")
    cleaned = [clean_fact_text(category, field="categories") for category in categories]
    if any(len(category) > MAX_CATEGORY for category in cleaned):
        raise InvalidInputError("categories", f"a category must have at most {MAX_CATEGORY} characters")
    return list(dict.fromkeys(cleaned))
