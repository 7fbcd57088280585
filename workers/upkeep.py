"""What is kept for a while only, and what is kept of it."""

from datetime import timedelta

from api.idempotency import kept_answers_expire
from config.celery import app
from django.conf import settings
from django.utils import timezone
from jobs.services import jobs_expire
from tenants.logins import logins_expire
from usage.rollup import roll_up
from usage.services import request_records_expire
from webhooks.services import deliveries_expire


@app.task(name="workers.upkeep.expire")
def expire() -> None:
    now = timezone.now()
    kept_answers_expire(now=now)
    deliveries_expire(now=now)
    jobs_expire(now=now)
    request_records_expire(now=now, kept=timedelta(days=settings.ENV.record_days))
    logins_expire()


@app.task(name="workers.upkeep.roll_up_requests")
def roll_up_requests() -> None:
    roll_up(now=timezone.now())
