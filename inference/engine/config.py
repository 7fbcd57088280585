"""The connector's configuration, as vLLM passes it: `kv_connector_extra_config`."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memory.fingerprint import model_fingerprint


@dataclass(frozen=True)
class ConnectorConfig:
    store: Path
    host_bytes: int
    fingerprint: str
    stage_seconds: float = 2.0

    @classmethod
    def read(cls, extra: Mapping[str, Any], *, model: str) -> "ConnectorConfig":
        """Raises ValueError naming the missing or bad entry."""
        if not extra.get("store"):
            raise ValueError("kv_connector_extra_config needs 'store': the blob folder")
        host_bytes = extra.get("host_bytes", 2 << 30)
        if not isinstance(host_bytes, int) or host_bytes <= 0:
            raise ValueError(f"kv_connector_extra_config 'host_bytes' must be a positive integer, not {host_bytes!r}")
        fingerprint = extra.get("fingerprint") or model_fingerprint(model)
        return cls(Path(extra["store"]), host_bytes, fingerprint, float(extra.get("stage_seconds", 2.0)))
