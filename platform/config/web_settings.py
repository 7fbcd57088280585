"""Django's settings in the web process.

A request runs in a thread of its own there, and a connection of that thread would end with it: so connections are kept
in a pool.
"""

from typing import Any

from config import settings

POOL = {"min_size": 1, "max_size": 16, "timeout": 10}

globals().update({name: value for name, value in vars(settings).items() if name.isupper()})

_database: dict[str, Any] = settings.DATABASES["default"]
DATABASES = {"default": {**_database, "CONN_MAX_AGE": 0, "OPTIONS": {**_database.get("OPTIONS", {}), "pool": POOL}}}
