"""Log-ins: until when who failed too often has to wait, how long the log is kept, sessions without a password."""

from datetime import datetime, timedelta

from axes.handlers.database import AxesDatabaseHandler
from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.auth.models import User
from django.contrib.sessions.backends.db import SessionStore
from django.http import HttpRequest
from django.utils import timezone

KEPT = timedelta(days=90)


def locked_until(request: HttpRequest) -> datetime:
    """The latest it can be, by the last attempt of this account and from this address."""
    credentials = getattr(request, "axes_credentials", None)  # axes does not pass them on where it runs asynchronously
    attempts = [attempt for found in AxesDatabaseHandler().get_user_attempts(request, credentials) for attempt in found]
    last: datetime = max((attempt.attempt_time for attempt in attempts), default=timezone.now())
    return last + settings.AXES_COOLOFF_TIME


def logins_expire() -> None:
    """Those in the log that are older than KEPT, successful and failed."""
    handler = AxesDatabaseHandler()
    handler.reset_logs(age_days=KEPT.days)
    handler.reset_failure_logs(age_days=KEPT.days)


def session_begin(user: User, *, lasts: timedelta) -> SessionStore:
    """As if the account had logged in; nobody has to type its password. For commands that look at the dashboard."""
    session = SessionStore()
    session[SESSION_KEY] = str(user.pk)
    session[BACKEND_SESSION_KEY] = settings.PASSWORD_BACKEND
    session[HASH_SESSION_KEY] = user.get_session_auth_hash()
    session.set_expiry(lasts)
    session.create()
    return session
