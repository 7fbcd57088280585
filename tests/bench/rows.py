"""Rows as the kinds write them."""

from typing import Any

MACHINE = {
    "cpu": "A processor",
    "cores": 16,
    "memory_gib": 128.0,
    "gpus": [{"name": "A GPU", "memory": "141 GiB", "driver": "1.2"}],
    "python": "3.12.1",
    "versions": {"vllm": "0.26.0"},
}


def latency(mode: str, samples_ms: list[float], **fields: Any) -> dict[str, Any]:
    row = {
        "kind": "latency",
        "shape": "llama-3.1-8b",
        "transport": "engine",
        "tier": "gpu",
        "row_dtype": "auto",
        "cudagraph": "served",
        "mode": mode,
        "k": 50,
        "samples_ms": samples_ms,
        "run": "one",
    }
    return row | ({"complete": len(samples_ms)} if mode == "inject" else {}) | fields


def throughput(mode: str, requests_per_s: float, **fields: Any) -> dict[str, Any]:
    row = {
        "kind": "throughput",
        "shape": "llama-3.1-8b",
        "tier": "gpu",
        "mode": mode,
        "users": 100,
        "rate": None,
        "k": 50,
        "tokens": 50,
        "requests": 300,
        "failed": 0,
        "requests_per_s": requests_per_s,
        "tokens_per_s": 50 * requests_per_s,
        "ttft_ms": {"p50": 40.0, "p95": 60.0, "p99": 80.0},
        "itl_ms": {"p50": 5.0, "p95": 6.0, "p99": 7.0},
        "ttft_samples_ms": [30.0, 40.0, 60.0],
        "client": {"processes": 4, "cpu_share": 0.2, "loop_lag_ms": {"p99": 1.0}},
        "run": "one",
    }
    return row | fields
