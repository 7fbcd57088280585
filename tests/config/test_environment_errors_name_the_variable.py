import pytest
from config.env import Environment, read_environment, unknown_variables, variable
from django.core.exceptions import ImproperlyConfigured

WRONG = [
    ("INFERSCALE_WEB_PORT", "eighty", "valid integer"),
    ("INFERSCALE_ENGINE_PORT", "70000", "less than or equal to 65535"),
    ("INFERSCALE_TOP_K", "0", "greater than or equal to 1"),
    ("INFERSCALE_DEBUG", "perhaps", "valid boolean"),
    ("INFERSCALE_LOG_LEVEL", "LOUD", "'WARNING' or 'ERROR'"),
    ("INFERSCALE_STRATEGY", "turns", "must be neighbours(n), nearest(n), window(n) or turns(n)"),
    ("INFERSCALE_ENGINE_URL", "localhost:8000", "must be an http:// or https:// URL"),
    ("INFERSCALE_ENGINE_URLS", "http://one:8000,two:8000", "must be http:// or https:// URLs"),
    ("INFERSCALE_EXTRACTOR_URL", "localhost:9000/v1", "must be an http:// or https:// URL"),
    ("INFERSCALE_SECRET_KEY", "short", "at least 32 characters"),
    ("DATABASE_URL", "mysql://root@db/x", "must be a postgres://"),
    ("INFERSCALE_ENCODER", "gpu", "'engine' or 'local'"),
    ("INFERSCALE_ENCODER_FLAGS", '--model "x', "cannot be split as a shell would"),
    ("INFERSCALE_ENCODE_TOKENS", "0", "greater than or equal to 64"),
    ("REDIS_URL", "amqp://broker", "must be a redis://"),
    ("INFERSCALE_STORE_URL", "https://bucket/blobs", "must be s3://bucket"),
    ("INFERSCALE_STORE_URL", "s3://bucket/blobs?list", "must be s3://bucket"),
    ("OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4318", "must be an http:// or https:// URL"),
    ("AWS_ENDPOINT_URL", "minio:9000", "must be an http:// or https:// URL"),
]


@pytest.mark.parametrize(("name", "value", "message"), WRONG)
def test_a_wrong_value_is_refused_by_name(monkeypatch: pytest.MonkeyPatch, name: str, value: str, message: str) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(ImproperlyConfigured) as caught:
        read_environment()
    assert str(caught.value).startswith(f"{name}: ")
    assert message in str(caught.value)


def test_every_wrong_variable_has_its_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INFERSCALE_WEB_PORT", "x")
    monkeypatch.setenv("INFERSCALE_TOP_K", "y")
    with pytest.raises(ImproperlyConfigured) as caught:
        read_environment()
    assert [line.split(":")[0] for line in str(caught.value).splitlines()] == [
        "INFERSCALE_WEB_PORT",
        "INFERSCALE_TOP_K",
    ]


def test_passwords_are_not_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "mysql://root:hunter2@db/x")
    with pytest.raises(ImproperlyConfigured) as caught:
        read_environment()
    assert "hunter2" not in str(caught.value)


def test_an_empty_variable_means_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INFERSCALE_WEB_PORT", "")
    assert read_environment().web_port == Environment.model_fields["web_port"].default


def test_a_relative_folder_is_anchored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INFERSCALE_HOME", "data")
    assert read_environment().home.is_absolute()


def test_a_misspelt_variable_is_noticed() -> None:
    assert unknown_variables(["INFERSCALE_TOPK", "INFERSCALE_HOME", "PATH"]) == {"INFERSCALE_TOPK": "INFERSCALE_TOP_K"}


def test_every_field_is_described() -> None:
    assert [variable(name) for name, field in Environment.model_fields.items() if not field.description] == []
