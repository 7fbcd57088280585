"""What values of the environment have to be. Each function returns the value as it is used, or raises ValueError."""

import re
import shlex

HTTP_URL = re.compile(r"https?://[^/]")
S3_URL = re.compile(r"s3://[a-z0-9][a-z0-9.-]+(/[\w.=-]+)*/?", re.ASCII)
# As memory.encoding reads it, which needs numpy.
ONE_STRATEGY = r"(?:turns\(\d{1,3}\)|(?:neighbours|nearest|window)\(\d{1,3}\)(?:\+turns\(\d{1,3}\))?)"
STRATEGY = re.compile(rf"(?:{ONE_STRATEGY}>)?{ONE_STRATEGY}(?:\+tail\(\d{{1,3}}\))?")
STRATEGY_FORMS = (
    "neighbours(n), nearest(n), window(n) or turns(n), with +turns(n) or +tail(n) if wanted, or a cheap one, '>' and "
    "the one it is refined to"
)


def secret(value: str) -> str:
    if value and len(value) < 32:
        raise ValueError("must have at least 32 characters")
    return value


def s3_url(value: str) -> str:
    if value and not S3_URL.fullmatch(value):
        raise ValueError("must be s3://bucket or s3://bucket/prefix")
    return value.rstrip("/")


def http_url(value: str) -> str:
    if value and not HTTP_URL.match(value):
        raise ValueError("must be an http:// or https:// URL")
    return value.rstrip("/")


def http_urls(value: list[str]) -> list[str]:
    if not all(HTTP_URL.match(url) for url in value):
        raise ValueError("must be http:// or https:// URLs, with commas between them")
    return [url.rstrip("/") for url in value]


def shell_words(value: str) -> str:
    try:
        shlex.split(value)
    except ValueError as error:
        raise ValueError(f"cannot be split as a shell would: {error}") from error
    return value


def database_url(value: str) -> str:
    if value and not value.startswith(("postgres://", "postgresql://")):
        raise ValueError("must be a postgres:// or postgresql:// URL")
    return value


def redis_url(value: str) -> str:
    if value and not value.startswith(("redis://", "rediss://", "unix://")):
        raise ValueError("must be a redis://, rediss:// or unix:// URL")
    return value


def strategy(value: str) -> str:
    if not STRATEGY.fullmatch(value):
        raise ValueError(f"must be {STRATEGY_FORMS}")
    return value
