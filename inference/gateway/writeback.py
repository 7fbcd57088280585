"""Stores conversations after their answers, by a thread of its own.

A conversation is in a file before the database is asked, and the file goes once it is stored: what was kept is stored
even if the database is away for long, or this process ends meanwhile; then the next one that starts stores it.
"""

import logging
from pathlib import Path
from threading import Event, Thread

import msgspec
from django.db import DataError, close_old_connections, connection
from django.db import Error as DatabaseError
from facts.errors import InvalidInputError
from facts.services import conversation_add
from tenants.selectors import tenant_by_id

from inference.gateway.conversation import Conversation
from inference.gateway.spool import Spool

logger = logging.getLogger(__name__)
RETRY_SECONDS = 5.0
LOOK_SECONDS = 60.0  # for files that a process left which did not start again


class WriteBack:
    def __init__(self, folder: Path, *, retry_seconds: float = RETRY_SECONDS) -> None:
        self._spool, self._retry_seconds = Spool(folder), retry_seconds
        self._wake, self._closing = Event(), Event()
        self._thread = Thread(target=self._run, name="write-back", daemon=True)
        self._wake.set()
        self._thread.start()

    def keep(self, conversation: Conversation) -> None:
        """Waits for the disk: call it in a thread. Without a disk the database is asked at once."""
        name = f"{conversation.said_at:%Y%m%dT%H%M%S%f}-{conversation.event_id}"
        try:
            self._spool.put(name, msgspec.json.encode(conversation))
        except OSError:
            logger.exception("conversation %s cannot be kept in a file", conversation.event_id)
            _store(conversation)
        self._wake.set()

    def close(self, timeout: float = 5.0) -> None:
        """Store what is there, if the database answers; files stay where it does not."""
        self._closing.set()
        self._wake.set()
        self._thread.join(timeout)

    def _run(self) -> None:
        try:
            while not self._closing.is_set():
                self._wake.wait(LOOK_SECONDS)
                self._wake.clear()
                while not self._look() and not self._closing.wait(self._retry_seconds):
                    pass
            self._look()
        finally:
            connection.close()

    def _look(self) -> bool:
        """Whether all was stored that can be."""
        try:
            return self._store_all()
        except Exception:
            logger.exception("conversations wait in %s", self._spool.folder)
            return False

    def _store_all(self) -> bool:
        """False when the database takes nothing: it is away, read-only, of another version, or just stores the same."""
        close_old_connections()
        for path, content in self._spool.waiting():
            try:
                _store(msgspec.json.decode(content, type=Conversation))
            except Exception as error:
                if isinstance(error, DatabaseError) and not isinstance(error, DataError):
                    logger.warning("conversations wait for the database: %s", error)
                    connection.close()
                    return False
                logger.exception("%s cannot be stored", path)
                self._spool.refuse(path)
            else:
                self._spool.done(path)
        return True


def _store(conversation: Conversation) -> None:
    """Raises django.db.Error, and DataError where that would come again."""
    tenant = tenant_by_id(conversation.tenant_id)
    if tenant is None:
        logger.warning("conversation %s is not stored: its tenant is closed", conversation.event_id)
        return
    try:
        event = conversation_add(
            tenant=tenant,
            scopes=conversation.scopes,
            messages=conversation.messages,
            said_at=conversation.said_at,
            event_id=conversation.event_id,
            actor=conversation.actor,
        )
    except InvalidInputError as error:
        logger.warning("conversation %s is not stored: %s", conversation.event_id, error)
        return
    if event is None:
        logger.info("conversation %s is not stored: its owner was erased", conversation.event_id)
