"""Secrets from files, as containers get them: NAME_FILE names the file whose text is NAME."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource

FILE_SUFFIX = "_FILE"


class SecretFiles(PydanticBaseSettingsSource):
    """`files`: what a value is taken under, by the variable that names its file. The environment's own values win.

    Raises ImproperlyConfigured, naming the variable, when its file cannot be read.
    """

    def __init__(self, settings_cls: type[BaseSettings], files: Mapping[str, str]) -> None:
        super().__init__(settings_cls)
        self._files = files

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:
        return None, field_name, False

    def __call__(self) -> dict[str, Any]:
        named = {name: os.environ[name] for name in self._files if os.environ.get(name)}
        return {self._files[name]: _read(name, Path(path)) for name, path in named.items()}


def _read(name: str, path: Path) -> str:
    try:
        return path.read_text().strip()
    except (OSError, ValueError) as error:
        raise ImproperlyConfigured(f"{name}: cannot read {path}: {error}") from None
