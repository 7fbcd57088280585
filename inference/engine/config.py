"""The connector's configuration, as vLLM passes it: `kv_connector_extra_config`."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vllm.platforms import current_platform

from memory.fingerprint import model_fingerprint
from memory.layout import RowDtype


@dataclass(frozen=True)
class ConnectorConfig:
    """`gpu_bytes` is the arena beside a GPU's paged cache; on CPU there is no such memory and it is not used.

    Bytes are per rank. `stage_seconds`: how long a request waits for blobs that are on their way. `waits_for_disk`:
    also for those that come from disk; without it such a request computes them, and they are loaded for the next.
    `store_url`: an object store that `store` keeps `store_cache_bytes` of; empty: `store` is all there is.
    `ranks`: the tensor-parallel ones that the fingerprint counts; None where it does not.
    `keeps_encoded`: what is encoded stays in memory too; without it on disk alone, for others to load.
    `ends_with_parent`: vLLM's core does not outlive the process that started it, even one that was killed.
    """

    store: Path
    store_url: str
    store_cache_bytes: int
    host_bytes: int
    gpu_bytes: int
    tenant_share: float
    row_dtype: RowDtype
    fingerprint: str
    ranks: int | None
    stage_seconds: float
    waits_for_disk: bool
    keeps_encoded: bool
    ends_with_parent: bool

    @classmethod
    def read(cls, extra: Mapping[str, Any], *, model: str) -> "ConnectorConfig":
        """Raises ValueError naming the missing or bad entry."""
        if not extra.get("store"):
            raise ValueError("kv_connector_extra_config needs 'store': the blob folder")
        row_dtype = extra.get("row_dtype", "auto")
        if row_dtype not in ("auto", "fp8"):
            raise ValueError(f"kv_connector_extra_config 'row_dtype' must be auto or fp8, not {row_dtype!r}")
        share = extra.get("tenant_share", 1.0)
        if not isinstance(share, int | float) or not 0 < share <= 1:
            raise ValueError(f"kv_connector_extra_config 'tenant_share' must lie between 0 and 1, not {share!r}")
        return cls(
            store=Path(extra["store"]),
            store_url=str(extra.get("store_url", "")),
            store_cache_bytes=int(extra.get("store_cache_bytes", 0)),
            host_bytes=_bytes(extra, "host_bytes", 2 << 30),
            gpu_bytes=_bytes(extra, "gpu_bytes", 2 << 30),
            tenant_share=float(share),
            row_dtype=row_dtype,
            fingerprint=extra.get("fingerprint") or model_fingerprint(model),
            ranks=extra.get("ranks"),
            stage_seconds=float(extra.get("stage_seconds", 2.0)),
            # A CPU reads a disk faster than it computes the same KV, a GPU computes it faster than it is read.
            waits_for_disk=bool(extra.get("waits_for_disk", current_platform.is_cpu())),
            keeps_encoded=bool(extra.get("keeps_encoded", True)),
            ends_with_parent=bool(extra.get("ends_with_parent", False)),
        )


def _bytes(extra: Mapping[str, Any], name: str, default: int) -> int:
    value = extra.get(name, default)
    if type(value) is not int or value <= 0:
        raise ValueError(f"kv_connector_extra_config {name!r} must be a positive number of bytes, not {value!r}")
    return value
