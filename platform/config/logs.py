"""Where log messages go and what they look like: stderr, a line or a JSON object each, with the request's id."""

from typing import Any, Literal

OURS = ("config", "tenants", "webhooks", "facts", "jobs", "usage", "api", "memory", "inference", "workers")
THEIRS = ("uvicorn", "uvicorn.error", "celery")  # servers that would print lines of their own form
FIELDS = "%(asctime)s %(levelname)s %(name)s %(request_id)s %(message)s"
NAMES = {"asctime": "time", "levelname": "level", "name": "logger"}


def logging_config(*, level: str, form: Literal["line", "json"]) -> dict[str, Any]:
    """For logging.config.dictConfig. As JSON, other libraries' messages come in the same form."""
    to_stderr = {"handlers": ["stderr"], "propagate": False}
    config: dict[str, Any] = {
        "version": 1,
        "disable_existing_loggers": False,
        "filters": {"request_id": {"()": "config.request_id.RequestIdFilter"}},
        "formatters": {
            "line": {"format": FIELDS},
            "json": {"()": "pythonjsonlogger.json.JsonFormatter", "fmt": FIELDS, "rename_fields": NAMES},
        },
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": form, "filters": ["request_id"]}},
        "loggers": {name: {**to_stderr, "level": level} for name in OURS},
    }
    if form == "json":
        config["root"] = {"handlers": ["stderr"], "level": "WARNING"}
        config["loggers"] |= {name: {**to_stderr, "level": "INFO"} for name in THEIRS}
        # Our own line a request says more.
        config["loggers"]["uvicorn.access"] = {"handlers": [], "propagate": False}
    return config


def vllm_logging_config() -> dict[str, Any]:
    """The same as JSON for vLLM, whose processes do not all load our settings."""
    fields = FIELDS.replace("%(request_id)s ", "")
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"json": {"()": "pythonjsonlogger.json.JsonFormatter", "fmt": fields, "rename_fields": NAMES}},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "json"}},
        "loggers": {"vllm": {"handlers": ["stderr"], "level": "INFO", "propagate": False}},
    }
