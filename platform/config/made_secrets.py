"""Secrets that nobody has to invent: made once and kept, or derived from another."""

import hashlib
import hmac
import os
import secrets
from pathlib import Path


def derive(secret: str, purpose: str) -> str:
    return hmac.new(secret.encode(), purpose.encode(), hashlib.sha256).hexdigest()


def write_once(path: Path, text: str) -> None:
    """Complete or not at all, first writer wins: a reader must never see half a secret."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as stream:
        stream.write(text)
    try:
        os.link(draft, path)
    except FileExistsError:
        pass
    finally:
        draft.unlink()
