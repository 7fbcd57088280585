"""The environment, read once and typed. Nothing else in the project reads environment variables."""

import hashlib
import hmac
import re
import secrets
from pathlib import Path
from typing import Annotated, Literal

from django.core.exceptions import ImproperlyConfigured
from pydantic import AliasChoices, Field, ValidationError, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

ROOT = Path(__file__).resolve().parents[2]
PREFIX = "INFERSCALE_"


class Environment(BaseSettings):
    """Every knob of the product; the README's configuration table is made from these fields."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, extra="ignore", frozen=True)

    home: Path = Field(ROOT / "var", description="data folder: embedded servers, models, blobs, logs")
    database_url: str = Field("", validation_alias=AliasChoices("DATABASE_URL"), description="PostgreSQL; empty: embedded")
    redis_url: str = Field("", validation_alias=AliasChoices("REDIS_URL"), description="Redis; empty: embedded")
    secret_key: str = Field("", description="signs sessions and salts; empty: made once and kept in the data folder")
    debug: bool = Field(False, description="Django's debug pages")
    allowed_hosts: Annotated[list[str], NoDecode] = Field(["*"], description="comma-separated host names of the web process")
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field("INFO", description="log level of our own loggers")

    web_port: int = Field(8080, ge=1, le=65535, description="port of dashboard and memory API")
    engine_host: str = Field("127.0.0.1", description="address the engine listens on")
    engine_port: int = Field(8000, ge=1, le=65535, description="port of the engine")
    engine_url: str = Field("", description="where workers and clients reach the engine; empty: from host and port")

    model: str = Field("demo", description="Hugging Face model name or folder; demo: SmolLM2-135M-Instruct from its package")
    embedding_model: str = Field("demo", description="sentence-transformers model; demo: all-MiniLM-L6-v2 from its package")
    kv_cache_dtype: str = Field("auto", description="vLLM's --kv-cache-dtype; part of every blob key")
    store: Path | None = Field(None, description="blob folder shared by engine and workers; empty: blobs/ in the data folder")
    host_kv_bytes: int = Field(2 << 30, ge=1 << 20, description="host memory for resident blobs, in bytes")
    strategy: str = Field("neighbours(16)", description="default context strategy of new tenants")
    encoder: Literal["engine"] = Field("engine", description="who encodes facts")
    encode_max_in_flight: int = Field(2, ge=1, le=256, description="encode requests in the engine at a time")
    top_k: int = Field(50, ge=1, le=1000, description="facts a chat uses at most")
    user_field_enables_memory: bool = Field(True, description="default of new keys: OpenAI's user field alone turns memory on")

    @field_validator("allowed_hosts", mode="before")
    @classmethod
    def _split_hosts(cls, value: object) -> object:
        return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value

    @field_validator("database_url")
    @classmethod
    def _check_database(cls, value: str) -> str:
        if value and not value.startswith(("postgres://", "postgresql://")):
            raise ValueError("must be a postgres:// or postgresql:// URL")
        return value

    @field_validator("redis_url")
    @classmethod
    def _check_redis(cls, value: str) -> str:
        if value and not value.startswith(("redis://", "rediss://", "unix://")):
            raise ValueError("must be a redis://, rediss:// or unix:// URL")
        return value

    @field_validator("strategy")
    @classmethod
    def _check_strategy(cls, value: str) -> str:
        if not re.fullmatch(r"(neighbours|window)\(\d{1,3}\)", value):
            raise ValueError("must be neighbours(n) or window(n)")
        return value

    @property
    def store_path(self) -> Path:
        return self.store or self.home / "blobs"

    @property
    def engine_base_url(self) -> str:
        return (self.engine_url or f"http://{self.engine_host}:{self.engine_port}").rstrip("/")

    @property
    def socket_folder(self) -> Path:
        """Unix sockets of the embedded servers: a short path, since the kernel allows 107 bytes."""
        return Path("/tmp") / f"inferscale-{hashlib.sha256(str(self.home.resolve()).encode()).hexdigest()[:12]}"

    def secret(self) -> str:
        if self.secret_key:
            return self.secret_key
        path = self.home / "secret.key"
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            try:
                with path.open("x") as stream:
                    path.chmod(0o600)
                    stream.write(secrets.token_urlsafe(48))
            except FileExistsError:
                pass
        return path.read_text().strip()

    def derived_secret(self, purpose: str) -> str:
        """A secret for one purpose, so that no two uses share a key."""
        return hmac.new(self.secret().encode(), purpose.encode(), hashlib.sha256).hexdigest()


def variable(field: str) -> str:
    """Name of the environment variable behind a field."""
    alias = Environment.model_fields[field].validation_alias
    return str(alias.choices[0]) if isinstance(alias, AliasChoices) else PREFIX + field.upper()


def read_environment() -> Environment:
    """Raises ImproperlyConfigured with one line a bad variable."""
    try:
        return Environment()
    except ValidationError as error:
        lines = []
        for item in error.errors():
            name = str(item["loc"][0])
            field = name if name in Environment.model_fields else name.lower()
            shown = variable(field) if field in Environment.model_fields else name
            lines.append(f"{shown}: {item['msg'].removeprefix('Value error, ')} (got {item.get('input')!r})")
        raise ImproperlyConfigured("\n".join(lines)) from None
