"""Folders the servers need, with the owner and modes that they need."""

import logging
import os
import stat
from pathlib import Path

from config.services.identity import Identity

logger = logging.getLogger(__name__)


def make_private(folder: Path, identity: Identity) -> None:
    """A folder only the servers' user (and root) may enter."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not identity.is_ourselves and folder.stat().st_uid == os.geteuid():
        os.chown(folder, identity.uid, identity.gid)
    if folder.stat().st_uid == identity.uid and stat.S_IMODE(folder.stat().st_mode) != 0o700:
        folder.chmod(0o700)


def foreign_owner(folder: Path, allowed: tuple[int, ...]) -> str:
    """Why a folder in a place that anybody may write to cannot be trusted; '' when it can, or is not there."""
    try:
        found = folder.lstat()
    except FileNotFoundError:
        return ""
    if not stat.S_ISDIR(found.st_mode):
        return f"{folder} is not a folder"
    return "" if found.st_uid in allowed else f"{folder} belongs to {Identity(found.st_uid, found.st_gid).name}"


def make_reachable(path: Path, identity: Identity) -> None:
    """Lets the servers' user pass (not list) the folders above."""
    for folder in reversed(path.resolve().parents):
        found = folder.stat()
        if not _may(found, identity, "x"):
            logger.warning(
                "letting other users pass through %s, for the database server's user %s", folder, identity.name
            )
            folder.chmod(stat.S_IMODE(found.st_mode) | stat.S_IXOTH)


def make_readable(folder: Path, identity: Identity) -> None:
    """Lets the servers' user read and run what an umask of 077 installed."""
    for path in (folder, *folder.rglob("*")):
        found = path.lstat()
        runs = found.st_mode & stat.S_IXUSR
        if stat.S_ISLNK(found.st_mode) or (_may(found, identity, "r") and (not runs or _may(found, identity, "x"))):
            continue
        path.chmod(stat.S_IMODE(found.st_mode) | stat.S_IROTH | (stat.S_IXOTH if runs else 0))


def _may(found: os.stat_result, identity: Identity, right: str) -> bool:
    bit = {"r": 4, "x": 1}[right]
    shift = 6 if found.st_uid == identity.uid else 3 if found.st_gid == identity.gid else 0
    return bool(found.st_mode >> shift & bit)
