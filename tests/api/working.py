"""A worker for the tests: runs, in this process, what the web process left in the broker."""

import base64
import json

import redis
from config.celery import app
from django.conf import settings
from django.db import connections

import workers.jobs
import workers.upkeep
import workers.webhooks  # noqa: F401 - tasks are found by name

QUEUES = ("default", "deliver")


def work() -> list[str]:
    """Names of the tasks that ran, in their order; raises what they raise."""
    ran = []
    with redis.Redis.from_url(settings.REDIS_URL) as client:
        while raw := next(filter(None, map(client.rpop, QUEUES)), None):
            message = json.loads(str(raw, "utf-8"))
            name = message["headers"]["task"]
            app.tasks[name].apply(args=json.loads(base64.b64decode(message["body"]))[0]).get()
            ran.append(name)
    return ran


def work_in_a_thread() -> None:
    """With connections of its own, closed again."""
    try:
        work()
    finally:
        connections.close_all()
