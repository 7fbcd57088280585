import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytest_django import DjangoDbBlocker

from tests.deploy.deployment import Deployment, deployed

HAS_NGINX = bool(shutil.which("nginx")) and Path("/usr/share/nginx/modules/ngx_http_js_module.so").exists()


@pytest.fixture(scope="package")
def deployment(
    django_db_setup: None, django_db_blocker: DjangoDbBlocker, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Deployment]:
    """Everything that docker-compose.yml starts by itself, with a second engine, on the test database."""
    if not HAS_NGINX:
        pytest.skip("needs Debian's nginx-light and libnginx-mod-http-js")
    with deployed(tmp_path_factory.mktemp("deployed"), django_db_blocker) as deployment:
        yield deployment


@pytest.fixture(autouse=True)
def _django_db_marker() -> None:
    """In place of pytest-django's, which would empty tables that running processes use."""
