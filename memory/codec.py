"""Blobs as bytes: safetensors with a checksum over everything in it. Never pickle."""

import json
from typing import Any

import torch
from blake3 import blake3
from safetensors import SafetensorError
from safetensors.torch import load, save

from memory.blob import Blob

FORMAT = "inferscale-blob-2"


class BlobCorrupt(Exception):
    """The bytes are not the blob that was written; the message says what differs."""


def blob_to_bytes(blob: Blob) -> bytes:
    rows = blob.rows.contiguous()
    fields = {
        "format": FORMAT,
        "key": blob.key,
        "start": str(blob.start),
        "digest": blob.digest,
        "layout": blob.layout,
        "fingerprint": blob.fingerprint,
    }
    return save({"rows": rows}, {**fields, "checksum": _checksum(fields, rows)})


def blob_from_bytes(data: bytes, *, key: str) -> Blob:
    """Raises BlobCorrupt unless the bytes are whole and were written under this key."""
    try:
        header_size = int.from_bytes(data[:8], "little")
        fields: dict[str, Any] = json.loads(data[8 : 8 + header_size])["__metadata__"]
        rows = load(data)["rows"]
        checksum = fields.pop("checksum")
    except (SafetensorError, ValueError, KeyError, TypeError, UnicodeDecodeError) as error:
        raise BlobCorrupt(f"unreadable: {error}") from None
    if fields.get("format") != FORMAT or fields.get("key") != key:
        raise BlobCorrupt("another format or key")
    if checksum != _checksum(fields, rows):
        raise BlobCorrupt("checksum differs")
    return Blob(key, rows, int(fields["start"]), fields["digest"], fields["layout"], fields["fingerprint"])


def _checksum(fields: dict[str, str], rows: torch.Tensor) -> str:
    digest = blake3(json.dumps(sorted(fields.items())).encode())
    digest.update(f"{rows.dtype}{tuple(rows.shape)}".encode())
    digest.update(rows.view(torch.uint8).numpy().data)  # not copied
    return digest.hexdigest()
