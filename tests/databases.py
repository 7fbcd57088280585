"""Addresses of databases beside the tests' own."""

from urllib.parse import urlsplit

from django.conf import settings


def database_url(name: str) -> str:
    """Of another database of the same server."""
    url = urlsplit(settings.DATABASE_URL)._replace(path=f"/{name}").geturl()
    return url if "://" in url else url.replace(":/", ":///", 1)  # urlsplit drops the empty host of a socket's
