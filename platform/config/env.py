"""The environment, read once and typed. Nothing else in the project reads environment variables."""

import difflib
import hashlib
import hmac
import os
import re
import secrets
import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Literal

from django.core.exceptions import ImproperlyConfigured
from pydantic import AliasChoices, Field, ValidationError, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

ROOT = Path(__file__).resolve().parents[2]
PREFIX = "INFERSCALE_"
# As memory.encoding reads it, which needs numpy.
STRATEGY = re.compile(
    r"(?:turns\(\d{1,3}\)|(?:neighbours|nearest|window)\(\d{1,3}\)(?:\+turns\(\d{1,3}\))?)(?:\+tail\(\d{1,3}\))?"
)
STRATEGY_FORMS = "neighbours(n), nearest(n), window(n) or turns(n), with +turns(n) or +tail(n) if wanted"
SECRET_FIELDS = ("database_url", "redis_url", "secret_key", "extractor_key")


class Environment(BaseSettings):
    """Every knob of the product; the README's configuration table is made from these fields."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, env_ignore_empty=True, extra="ignore", frozen=True)

    home: Path = Field(ROOT / "var", description="data folder: embedded servers, models, blobs, logs")
    database_url: str = Field(
        "", validation_alias=AliasChoices("DATABASE_URL"), description="PostgreSQL; empty: embedded"
    )
    redis_url: str = Field("", validation_alias=AliasChoices("REDIS_URL"), description="Redis; empty: embedded")
    secret_key: str = Field("", description="signs sessions and salts; empty: made once and kept in the data folder")
    debug: bool = Field(False, description="Django's debug pages")
    allowed_hosts: Annotated[list[str], NoDecode] = Field(
        ["*"], description="comma-separated host names of the web process"
    )
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field("INFO", description="log level of our own loggers")

    web_host: str = Field("127.0.0.1", description="address the web process listens on")
    web_port: int = Field(8080, ge=1, le=65535, description="port of dashboard and memory API")
    engine_host: str = Field("127.0.0.1", description="address the engine listens on")
    engine_port: int = Field(8000, ge=1, le=65535, description="port of the engine")
    engine_url: str = Field("", description="where workers and clients reach the engine; empty: from host and port")

    model: str = Field(
        "demo", description="Hugging Face model name or folder; demo: SmolLM2-135M-Instruct from its package"
    )
    embedding_model: str = Field(
        "demo", description="sentence-transformers model; demo: all-MiniLM-L6-v2 from its package"
    )
    embedding_device: Literal["auto", "cpu", "cuda"] = Field(
        "auto",
        description="where texts are embedded; auto: on the GPU in the engine where there is one, else on the CPU",
    )
    kv_cache_dtype: str = Field("auto", description="vLLM's --kv-cache-dtype; part of every blob key")
    store: Path | None = Field(
        None, description="blob folder shared by engine and workers; empty: blobs/ in the data folder"
    )
    kv_row_dtype: Literal["auto", "fp8"] = Field(
        "auto", description="how blobs are kept in all tiers; fp8 takes half the bytes; part of every blob key"
    )
    gpu_kv_bytes: int = Field(
        4 << 30, ge=1 << 20, description="memory of each GPU for resident blobs, taken off vLLM's share, in bytes"
    )
    host_kv_bytes: int = Field(
        2 << 30, ge=1 << 20, description="host memory for resident blobs, in bytes; pinned where there is a GPU"
    )
    tenant_share: float = Field(1.0, gt=0, le=1, description="how much of each tier one tenant's blobs may take")
    idle_seconds: int = Field(
        3600, ge=60, description="an owner without chat or new fact for so long has its blobs moved to disk, in seconds"
    )
    strategy: str = Field("neighbours(16)", description="default context strategy of new tenants")
    encoder: Literal["engine", "local"] = Field(
        "engine", description="who encodes facts; local: a vLLM of the worker's own, on a device that it has to itself"
    )
    encoder_devices: str = Field(
        "", description="CUDA_VISIBLE_DEVICES of the local encoder that `manage.py up` starts; empty: as it is"
    )
    encoder_flags: str = Field("", description="vLLM's own flags for the local encoder, such as --max-model-len 8192")
    encode_max_in_flight: int = Field(2, ge=1, le=256, description="encode requests in the engine at a time")
    encode_tokens: int = Field(
        2048, ge=64, le=1 << 20, description="prompt tokens of an encode request in which several facts share a pass"
    )
    extractor_url: str = Field(
        "", description="OpenAI-compatible API that finds facts in conversations, with its /v1; empty: the engine"
    )
    extractor_key: str = Field("", description="key of that API")
    extractor_model: str = Field("", description="model that it is asked for")
    top_k: int = Field(50, ge=1, le=1000, description="facts a chat uses at most")
    user_field_enables_memory: bool = Field(
        True, description="default of new keys: OpenAI's user field alone turns memory on"
    )
    requests_per_minute: int = Field(
        6000, ge=0, description="calls of the memory API that a key may make, where it has no limit of its own; 0: any"
    )
    webhooks_to_private: bool = Field(
        False, description="webhooks may go to private and loopback addresses, not to the public network alone"
    )

    @field_validator("allowed_hosts", mode="before")
    @classmethod
    def _split_hosts(cls, value: object) -> object:
        return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value

    @field_validator("home", "store")
    @classmethod
    def _anchor(cls, value: Path | None) -> Path | None:
        """Absolute, so that every process means the same folder wherever it was started."""
        return value and value.expanduser().absolute()

    @field_validator("secret_key")
    @classmethod
    def _check_secret(cls, value: str) -> str:
        if value and len(value) < 32:
            raise ValueError("must have at least 32 characters")
        return value

    @field_validator("engine_url", "extractor_url")
    @classmethod
    def _check_engine(cls, value: str) -> str:
        if value and not re.match(r"https?://[^/]", value):
            raise ValueError("must be an http:// or https:// URL")
        return value

    @field_validator("encoder_flags")
    @classmethod
    def _check_flags(cls, value: str) -> str:
        try:
            shlex.split(value)
        except ValueError as error:
            raise ValueError(f"cannot be split as a shell would: {error}") from error
        return value

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
        if not STRATEGY.fullmatch(value):
            raise ValueError(f"must be {STRATEGY_FORMS}")
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

    @property
    def embeds_postgres(self) -> bool:
        return not self.database_url

    @property
    def embeds_redis(self) -> bool:
        """True as well for another database number of the embedded server, which tests use."""
        return not self.redis_url or self.redis_url.startswith(self.redis_socket_url)

    @property
    def redis_socket_url(self) -> str:
        return f"unix://{self.socket_folder}/redis.sock"

    def secret(self) -> str:
        """The configured secret, or one made by whichever process comes first and kept in the data folder."""
        if self.secret_key:
            return self.secret_key
        path = self.home / "secret.key"
        try:
            if not path.exists():
                _write_once(path, secrets.token_urlsafe(48))
            return path.read_text().strip()
        except OSError as error:
            raise ImproperlyConfigured(f"{variable('home')}: cannot read or write {path}: {error.strerror}") from None

    def derived_secret(self, purpose: str) -> str:
        """A secret for one purpose, so that no two uses share a key."""
        return hmac.new(self.secret().encode(), purpose.encode(), hashlib.sha256).hexdigest()


def _write_once(path: Path, text: str) -> None:
    """Complete or not at all, first writer wins: a reader must never see half a secret."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as stream:
        stream.write(text)
    try:
        os.link(draft, path)
    except FileExistsError:
        pass
    finally:
        draft.unlink()


def variable(field: str) -> str:
    """Name of the environment variable behind a field."""
    alias = Environment.model_fields[field].validation_alias
    return str(alias.choices[0]) if isinstance(alias, AliasChoices) else PREFIX + field.upper()


def unknown_variables(names: Iterable[str]) -> dict[str, str]:
    """Misspelt variables, with the one probably meant ('' when none is near)."""
    known = [variable(field) for field in Environment.model_fields]
    strangers = sorted(name for name in names if name.startswith(PREFIX) and name not in known)
    return {name: next(iter(difflib.get_close_matches(name, known, n=1)), "") for name in strangers}


def read_environment() -> Environment:
    """Raises ImproperlyConfigured with one line a bad variable."""
    try:
        return Environment()
    except ValidationError as error:
        raise ImproperlyConfigured("\n".join(_complaint(dict(item)) for item in error.errors())) from None


def _complaint(item: dict[str, Any]) -> str:
    name = str(item["loc"][0])
    field = next((known for known in Environment.model_fields if name in (known, variable(known))), name)
    shown = variable(field) if field in Environment.model_fields else name
    value = "" if field in SECRET_FIELDS else f" (got {item.get('input')!r})"
    return f"{shown}: {item['msg'].removeprefix('Value error, ')}{value}"
