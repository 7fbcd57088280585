"""requirements.lock is complete and agrees with pyproject.toml."""

import re
import tomllib
from importlib.metadata import PackageNotFoundError, requires
from itertools import chain

from config.env import ROOT
from packaging.requirements import Requirement

# named in the lock's head, with the reasons
LEFT_OUT = {"torchvision", "torchaudio", "torchcodec", "triton", "openvino-telemetry"}
LEFT_OUT |= {"llm", "llama-cpp-python", "pandas", "matplotlib"}


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def locked() -> dict[str, str]:
    lines = [line.split(";")[0].strip() for line in (ROOT / "requirements.lock").read_text().splitlines()]
    pairs = [line.split("==") for line in lines if line and not line.startswith("#")]
    return {canonical(name): version for name, version in pairs}


def direct() -> list[Requirement]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    return [Requirement(line) for line in chain(project["dependencies"], extras["cpu"], extras["demo"], extras["dev"])]


def test_direct_dependencies_are_locked_at_a_version_they_accept() -> None:
    versions = locked()
    wrong = [str(need) for need in direct() if not need.specifier.contains(versions.get(canonical(need.name), "0"))]
    assert wrong == []


def test_every_need_of_a_locked_package_is_locked() -> None:
    versions = locked()
    wrong = []
    todo, seen = [*direct()], set()
    while todo:
        need = todo.pop()
        name = canonical(need.name)
        if name in LEFT_OUT or (name, *sorted(need.extras)) in seen:
            continue
        seen.add((name, *sorted(need.extras)))
        if not _accepts(need, versions.get(name)):
            wrong.append(f"{need} (locked: {versions.get(name)})")
        todo.extend(_needs(need))
    assert wrong == []


def test_the_lock_names_no_file_no_url_and_no_local_build() -> None:
    text = (ROOT / "requirements.lock").read_text()
    pins = [line for line in text.splitlines() if not line.startswith("#")]
    assert [line for line in pins if not re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.]+( ; .+)?", line)] == []


def _accepts(need: Requirement, version: str | None) -> bool:
    """A local build of the locked version (torch's CPU build) is the same version."""
    if version is None:
        return False
    return need.specifier.contains(version, prereleases=True) or str(need.specifier).split("+")[0] == f"=={version}"


def _needs(need: Requirement) -> list[Requirement]:
    try:
        lines = requires(need.name) or []
    except PackageNotFoundError:  # locked for other machines than this one
        return []
    found = [Requirement(line) for line in lines]
    contexts = [{"extra": extra} for extra in need.extras or {""}]
    return [one for one in found if one.marker is None or any(map(one.marker.evaluate, contexts))]
