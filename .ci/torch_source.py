"""Prints the pip options that bring PyTorch's CPU build, for `pip install $(...) torch==VERSION`.

The configured index may already have it; where it has the CUDA build (2 GB more, useless here), PyTorch's own CPU index
is named instead. Runs before anything is installed, so with the standard library alone.
"""

import json
import subprocess
import sys
from typing import Any

CPU_INDEX = "https://download.pytorch.org/whl/cpu"
CUDA_PACKAGES = ("nvidia-", "cuda-", "triton")


def offered(requirement: str) -> dict[str, Any]:
    """Metadata of what the configured index would install; empty when it has nothing."""
    options = ["--dry-run", "--ignore-installed", "--no-deps", "--quiet", "--report", "-"]
    command = [sys.executable, "-m", "pip", "install", *options, requirement]
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return dict(json.loads(result.stdout)["install"][0]["metadata"]) if result.returncode == 0 else {}


def is_cpu_build(metadata: dict[str, Any]) -> bool:
    needs = metadata.get("requires_dist", [])
    return bool(metadata) and not any(need.startswith(CUDA_PACKAGES) for need in needs)


if __name__ == "__main__" and not is_cpu_build(offered(sys.argv[1])):
    sys.stdout.write(f"--index-url {CPU_INDEX}\n")
