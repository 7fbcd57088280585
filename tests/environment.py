"""The environment of the test run, set before Django reads it: a plugin (`-p`), for conftest comes after pytest-django.

Without DATABASE_URL and REDIS_URL the embedded servers of the data folder are used, but neither the database nor the
queues nor the blobs of a product running from the same folder.
"""

import os

from config.env import read_environment

ENV = read_environment()
TEST_REDIS_DATABASE = 9

if not ENV.redis_url:
    os.environ["REDIS_URL"] = f"{ENV.redis_socket_url}?db={TEST_REDIS_DATABASE}"
os.environ.setdefault("INFERSCALE_STORE", str(ENV.home / "test-blobs"))
