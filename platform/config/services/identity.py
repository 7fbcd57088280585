"""The user the embedded servers run as: ourselves, or one without rights when we are root (PostgreSQL refuses root)."""

import os
import pwd
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

DROP_USER = "inferscale-db"


class DropArguments(TypedDict, total=False):
    """Keyword arguments of subprocess that change the user."""

    user: int
    group: int
    extra_groups: list[int]


@dataclass(frozen=True)
class Identity:
    uid: int
    gid: int

    @property
    def name(self) -> str:
        try:
            return pwd.getpwuid(self.uid).pw_name
        except KeyError:
            return str(self.uid)

    @property
    def is_ourselves(self) -> bool:
        return self.uid == os.geteuid()

    def drop_arguments(self) -> DropArguments:
        return {} if self.is_ourselves else {"user": self.uid, "group": self.gid, "extra_groups": []}


OURSELVES = Identity(os.geteuid(), os.getegid())


def service_identity(folder: Path) -> Identity:
    """Root runs servers as the owner of existing data, else as a user made for them. May raise OSError."""
    if os.geteuid() != 0:
        return OURSELVES
    if folder.exists() and folder.stat().st_uid != 0:
        return Identity(folder.stat().st_uid, folder.stat().st_gid)
    try:
        entry = pwd.getpwnam(DROP_USER)
    except KeyError:
        entry = _make_drop_user()
    return Identity(entry.pw_uid, entry.pw_gid)


def _make_drop_user() -> pwd.struct_passwd:
    command = [
        "useradd",
        "--system",
        "--user-group",
        "--no-create-home",
        "--home-dir",
        "/nonexistent",
        "--shell",
        "/usr/sbin/nologin",
        DROP_USER,
    ]
    result = subprocess.run(command, capture_output=True, text=True)
    try:
        return pwd.getpwnam(DROP_USER)
    except KeyError:
        raise OSError(
            f"PostgreSQL does not run as root and the user {DROP_USER} cannot be made: {result.stderr.strip()}"
        ) from None
