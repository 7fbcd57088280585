"""The environment, read once and typed. Nothing else in the project reads environment variables."""

import difflib
import hashlib
import os
import secrets
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Literal

from django.core.exceptions import ImproperlyConfigured
from pydantic import AliasChoices, Field, ValidationError, field_validator
from pydantic_settings import BaseSettings, NoDecode, PydanticBaseSettingsSource, SettingsConfigDict

from config import values
from config.made_secrets import derive, write_once
from config.secret_files import FILE_SUFFIX, SecretFiles

ROOT = Path(__file__).resolve().parents[2]
PREFIX = "INFERSCALE_"
STORE_CREDENTIALS = ("aws_access_key_id", "aws_secret_access_key")
SECRET_FIELDS = (
    "database_url",
    "database_password",
    "redis_url",
    "secret_key",
    "secret_key_before",
    "extractor_key",
    "rerank_key",
    "mcp_key",
    *STORE_CREDENTIALS,
)


class Environment(BaseSettings):
    """Every knob of the product; the README's configuration table is made from these fields."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, env_ignore_empty=True, extra="ignore", frozen=True)

    home: Path = Field(ROOT / "var", description="data folder: embedded servers, models, blobs, logs")
    database_url: str = Field(
        "", validation_alias=AliasChoices("DATABASE_URL"), description="PostgreSQL; empty: embedded"
    )
    database_password: str = Field(
        "", validation_alias=AliasChoices("DATABASE_PASSWORD"), description="password for a `DATABASE_URL` without one"
    )
    redis_url: str = Field("", validation_alias=AliasChoices("REDIS_URL"), description="Redis; empty: embedded")
    secret_key: str = Field("", description="signs sessions and salts; empty: made once and kept in the data folder")
    secret_key_before: str = Field(
        "", description="the secret that this one takes the place of: sessions and workers that have it are let in"
    )
    debug: bool = Field(False, description="Django's debug pages")
    allowed_hosts: Annotated[list[str], NoDecode] = Field(
        ["*"], description="comma-separated host names of the web process"
    )
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field("INFO", description="log level of our own loggers")
    log_format: Literal["line", "json"] = Field("line", description="a line of text or a JSON object for each message")
    otlp_endpoint: str = Field(
        "",
        validation_alias=AliasChoices("OTEL_EXPORTER_OTLP_ENDPOINT"),
        description="where traces are sent to, an OpenTelemetry collector's OTLP over HTTP; empty: none are made",
    )

    web_host: str = Field("127.0.0.1", description="address the web process listens on")
    web_port: int = Field(8080, ge=1, le=65535, description="port of dashboard and memory API")
    engine_host: str = Field("127.0.0.1", description="address the engine listens on")
    engine_port: int = Field(8000, ge=1, le=65535, description="port of the engine")
    worker_host: str = Field("127.0.0.1", description="address a worker's port is opened on")
    worker_port: int = Field(0, ge=0, le=65535, description="port of a worker's /metrics and /health; 0: none")
    engine_url: str = Field("", description="where workers and clients reach the engine; empty: from host and port")
    engine_urls: Annotated[list[str], NoDecode] = Field(
        [],
        description="every engine, comma-separated, where there are several; a name with several addresses is as many; "
        "empty: the one engine",
    )

    drain_file: Path | None = Field(
        None, description="while this file exists the engine takes no new requests; `serve --drain` makes it by itself"
    )

    model: str = Field(
        "demo", description="Hugging Face model name or folder; demo: SmolLM2-135M-Instruct from its package"
    )
    embedding_model: str = Field(
        "demo", description="sentence-transformers model; demo: all-MiniLM-L6-v2 from its package"
    )
    embedding_device: Literal["cpu", "cuda"] = Field(
        "cpu", description="where texts are embedded; one question at a time is faster on the CPU"
    )
    kv_cache_dtype: str = Field("auto", description="vLLM's --kv-cache-dtype; part of every blob key")
    tensor_parallel_size: int = Field(
        1, ge=1, description="GPUs that share the model, vLLM's --tensor-parallel-size; part of every blob key"
    )
    store: Path | None = Field(
        None, description="blob folder shared by engine and workers; empty: blobs/ in the data folder"
    )
    store_url: str = Field(
        "", description="s3://bucket/prefix: blobs are kept there, and the blob folder has this host's copies"
    )
    store_cache_bytes: int = Field(
        64 << 30, ge=0, description="disk space of an engine for copies of blobs in an object store, in bytes"
    )
    aws_endpoint_url: str = Field(
        "", validation_alias=AliasChoices("AWS_ENDPOINT_URL"), description="of the object store, where it is not AWS'"
    )
    aws_region: str = Field("", validation_alias=AliasChoices("AWS_REGION"), description="of the object store")
    aws_access_key_id: str = Field(
        "",
        validation_alias=AliasChoices("AWS_ACCESS_KEY_ID"),
        description="for the object store; empty: the host's role",
    )
    aws_secret_access_key: str = Field(
        "", validation_alias=AliasChoices("AWS_SECRET_ACCESS_KEY"), description="its secret"
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
    record_days: int = Field(
        90, ge=7, description="days that single requests are kept; hourly sums of them are kept for good"
    )
    strategy: str = Field("neighbours(16)", description="default context strategy of new tenants")
    refresh_share: float = Field(
        0.25, gt=0, le=1, description="a fact is encoded again once so much of its n nearest facts is new: nearest(n)"
    )
    refreshes: int = Field(8, ge=0, description="how often a fact is encoded again for newer facts; 0: never")
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
    rerank_url: str = Field(
        "",
        description="API whose `/rerank` orders what was found anew where that is asked for, with its /v1; empty: none",
    )
    rerank_key: str = Field("", description="key of that API")
    rerank_model: str = Field("", description="model that it is asked for")
    top_k: int = Field(50, ge=1, le=1000, description="facts a chat uses at most")
    user_field_enables_memory: bool = Field(
        True, description="default of new keys: OpenAI's user field alone turns memory on"
    )
    requests_per_minute: int = Field(
        6000, ge=0, description="calls and chats a minute that a key may make, where it has no limit of its own; 0: any"
    )
    mcp_key: str = Field("", description="API key of `manage.py mcp`")
    webhooks_to_private: bool = Field(
        False, description="webhooks may go to private and loopback addresses, not to the public network alone"
    )

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        files = {f"{variable(field)}{FILE_SUFFIX}": variable_or_field(field) for field in SECRET_FIELDS}
        return init_settings, env_settings, SecretFiles(settings_cls, files)

    @field_validator("allowed_hosts", "engine_urls", mode="before")
    @classmethod
    def _split_list(cls, value: object) -> object:
        return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value

    @field_validator("home", "store", "drain_file")
    @classmethod
    def _anchor(cls, value: Path | None) -> Path | None:
        """Absolute, so that every process means the same folder wherever it was started."""
        return value and value.expanduser().absolute()

    _check_secret = field_validator("secret_key", "secret_key_before")(values.secret)
    _check_store = field_validator("store_url")(values.s3_url)
    _check_url = field_validator("engine_url", "extractor_url", "rerank_url", "aws_endpoint_url", "otlp_endpoint")(
        values.http_url
    )
    _check_urls = field_validator("engine_urls")(values.http_urls)
    _check_flags = field_validator("encoder_flags")(values.shell_words)
    _check_database = field_validator("database_url")(values.database_url)
    _check_redis = field_validator("redis_url")(values.redis_url)
    _check_strategy = field_validator("strategy")(values.strategy)

    @property
    def store_path(self) -> Path:
        return self.store or self.home / "blobs"

    def lend_to_store_client(self) -> None:
        """What came from files: the object store's client, here and in processes to come, reads variables alone."""
        for field in STORE_CREDENTIALS:
            if value := getattr(self, field):
                os.environ[variable(field)] = value

    @property
    def engine_base_url(self) -> str:
        return (self.engine_url or f"http://{self.engine_host}:{self.engine_port}").rstrip("/")

    @property
    def engine_replica_urls(self) -> list[str]:
        """Of every engine that there is."""
        return self.engine_urls or [self.engine_base_url]

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
                write_once(path, secrets.token_urlsafe(48))
            return path.read_text().strip()
        except OSError as error:
            raise ImproperlyConfigured(f"{variable('home')}: cannot read or write {path}: {error.strerror}") from None

    def derived_secret(self, purpose: str) -> str:
        """A secret for one purpose, so that no two uses share a key."""
        return derive(self.secret(), purpose)

    def derived_secrets_before(self, purpose: str) -> list[str]:
        """What `derived_secret` was with the secret before, if there is one."""
        return [derive(self.secret_key_before, purpose)] if self.secret_key_before else []


def variable(field: str) -> str:
    """Name of the environment variable behind a field."""
    alias = Environment.model_fields[field].validation_alias
    return str(alias.choices[0]) if isinstance(alias, AliasChoices) else PREFIX + field.upper()


def variable_or_field(field: str) -> str:
    """The name that pydantic takes the field's value under."""
    return variable(field) if Environment.model_fields[field].validation_alias else field


def unknown_variables(names: Iterable[str]) -> dict[str, str]:
    """Misspelt variables, with the one probably meant ('' when none is near)."""
    known = [variable(field) for field in Environment.model_fields]
    known += [f"{variable(field)}{FILE_SUFFIX}" for field in SECRET_FIELDS]
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
