"""The machine, in one sentence."""

from collections import Counter
from typing import Any


def machine_sentence(machine: dict[str, Any]) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in machine["versions"].items())
    cores = f"{machine['cores']} cores of {machine['cpu']}, {machine['memory_gib']:g} GiB memory"
    return f"On {_gpus(machine['gpus'])}{cores}; Python {machine['python']}, {versions}."


def _gpus(gpus: list[dict[str, str]]) -> str:
    counted = Counter((gpu["name"], gpu["memory"], gpu["driver"]) for gpu in gpus)
    return "".join(
        f"{count} × {name} ({memory}, driver {driver}), " for (name, memory, driver), count in counted.items()
    )
