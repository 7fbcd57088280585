"""What is kept for a while only."""

from api.idempotency import kept_answers_expire
from config.celery import app
from django.utils import timezone
from jobs.services import jobs_expire
from webhooks.services import deliveries_expire


@app.task(name="workers.upkeep.expire")
def expire() -> None:
    now = timezone.now()
    kept_answers_expire(now=now)
    deliveries_expire(now=now)
    jobs_expire(now=now)
