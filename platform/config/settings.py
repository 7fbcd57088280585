"""Django settings. Values come from `config.env`, which reads the environment once."""

from datetime import timedelta

import dj_database_url

from config.env import ROOT, read_environment
from config.logs import logging_config

ENV = read_environment()
ENV.lend_to_store_client()

SECRET_KEY = ENV.derived_secret("django")
SECRET_KEY_FALLBACKS = ENV.derived_secrets_before("django")
ENGINE_SERVICE_KEY = ENV.derived_secret("service-key")
ENGINE_SERVICE_KEYS_BEFORE = ENV.derived_secrets_before("service-key")
SALT_SECRET = ENV.derived_secret("cache-salt")
DEBUG = ENV.debug
ALLOWED_HOSTS = ENV.allowed_hosts

DATABASE_URL = ENV.database_url or f"postgres:///inferscale?host={ENV.socket_folder}&port=5432&user=postgres"
REDIS_URL = ENV.redis_url or f"{ENV.redis_socket_url}?db=0"

INSTALLED_APPS = [
    "config",
    "unfold",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "django_scopes",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "django_htmx",
    "axes",
    "tenants",
    "webhooks",
    "facts",
    "jobs",
    "usage",
    "api",
    "inference",
    "frontend",
]

MIDDLEWARE = [
    "api.request_ids.request_id_middleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "axes.middleware.AxesMiddleware",
]

ROOT_URLCONF = "config.urls"
ASGI_APPLICATION = "config.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]

DATABASE = dj_database_url.parse(DATABASE_URL)
PASSWORD = {"PASSWORD": DATABASE["PASSWORD"] or ENV.database_password}
DATABASES = {"default": {**DATABASE, **PASSWORD, "CONN_MAX_AGE": 60, "CONN_HEALTH_CHECKS": True}}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
AUTH_PASSWORD_VALIDATORS = [{"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"}]

PASSWORD_BACKEND = "django.contrib.auth.backends.ModelBackend"
AUTHENTICATION_BACKENDS = ["axes.backends.AxesStandaloneBackend", PASSWORD_BACKEND]
# Failed log-ins, of an account from anywhere and from an address for any account.
AXES_FAILURE_LIMIT = 10
AXES_LOCKOUT_PARAMETERS = ["username", "ip_address"]
AXES_COOLOFF_TIME = timedelta(minutes=15)
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False  # or whoever goes on trying keeps the account's owner out
AXES_RESET_ON_SUCCESS = True
AXES_LOCKOUT_CALLABLE = "frontend.views.entry.locked_out"
AXES_ENABLE_ACCESS_FAILURE_LOG = True
AXES_ENABLE_ADMIN = False  # tenants.admin has them
AXES_SENSITIVE_PARAMETERS = ["csrfmiddlewaretoken", "code"]
AXES_VERBOSE = False

LOGIN_URL = "dashboard:login"

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_TZ = True
STATIC_URL = "static/"
WHITENOISE_USE_FINDERS = True  # straight from the packages: nothing to collect

DATA_UPLOAD_MAX_MEMORY_SIZE = 8 << 20
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["api.authentication.ApiKeyAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["api.parsers.JSONObjectParser"],
    "DEFAULT_SCHEMA_CLASS": "api.schema.ApiSchema",
    "EXCEPTION_HANDLER": "api.errors.exception_handler",
    "UNAUTHENTICATED_USER": None,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "InferScale memory API",
    "VERSION": "0.1.0",
    "SERVE_INCLUDE_SCHEMA": False,
    "ENUM_NAME_OVERRIDES": {"EventTypeEnum": "webhooks.models.EventType"},
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
}

LOGGING = logging_config(level=ENV.log_level, form=ENV.log_format)

__all__ = ["ROOT"]
