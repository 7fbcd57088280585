"""The Celery application of the workers and of everything that enqueues by task name."""

import os

from celery import Celery
from django.conf import settings

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")


def broker_url(redis_url: str) -> str:
    """Celery spells a Unix socket `redis+socket://path?virtual_host=db`, redis-py `unix://path?db=db`."""
    if redis_url.startswith("unix://"):
        return redis_url.replace("unix://", "redis+socket://").replace("?db=", "?virtual_host=")
    return redis_url


app = Celery("inferscale")
app.conf.update(
    broker_url=broker_url(settings.REDIS_URL),
    task_ignore_result=True,
    task_acks_late=True,
    task_reject_on_worker_lost=True,
    worker_prefetch_multiplier=1,
    task_default_queue="default",
    task_routes={
        "workers.encode.*": {"queue": "encode"},
        "workers.extract.*": {"queue": "extract"},
        "workers.tiering.*": {"queue": "tiering"},
        "workers.webhooks.*": {"queue": "deliver"},
    },
    task_publish_retry=False,
    broker_connection_retry_on_startup=True,
    worker_hijack_root_logger=settings.ENV.log_format == "line",
    broker_transport_options={"visibility_timeout": 600, "socket_connect_timeout": 1, "socket_timeout": 30},
    imports=["workers.tasks"],
    # A local engine belongs to a whole worker, and CUDA does not survive a fork.
    worker_pool="threads" if settings.ENV.encoder == "local" else "prefork",
    # Expired when the next one comes, so that they do not pile up; not in the queue of what they look for.
    beat_schedule={
        "sweep": {
            "task": "workers.encode.sweep",
            "schedule": 30,
            "options": {"queue": "tiering", "expires": 30},
        },
        # Behind all that waits to be encoded, where the encoder is.
        "refine": {"task": "workers.encode.refine", "schedule": 30, "options": {"expires": 30}},
        "audit": {"task": "workers.tiering.audit", "schedule": 120, "options": {"expires": 120}},
        "follow-activity": {"task": "workers.tiering.follow_activity", "schedule": 60, "options": {"expires": 60}},
        "limit-memory": {"task": "workers.tiering.limit_memory", "schedule": 60, "options": {"expires": 60}},
        "deliver-due": {
            "task": "workers.webhooks.deliver_due",
            "schedule": 15,
            "options": {"queue": "tiering", "expires": 15},
        },
        "resume-jobs": {"task": "workers.jobs.resume", "schedule": 60, "options": {"expires": 60}},
        "delete-tenants": {"task": "workers.tenants.resume", "schedule": 60, "options": {"expires": 60}},
        "expire": {"task": "workers.upkeep.expire", "schedule": 3600, "options": {"expires": 3600}},
        "roll-up": {"task": "workers.upkeep.roll_up_requests", "schedule": 60, "options": {"expires": 60}},
        "sample-tiers": {"task": "workers.tiering.sample_tiers", "schedule": 60, "options": {"expires": 60}},
    },
)
