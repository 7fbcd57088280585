"""The Dockerfile makes what the tests run, from the same lock."""

import re
import subprocess
import sys
from pathlib import Path

from config.env import ROOT

from tests.deploy.composed import compose

TEXT = (ROOT / "Dockerfile").read_text()
STAGES = dict(re.findall(r"^FROM \S+ AS (\w+)\n(.*?)(?=^FROM |\Z)", TEXT, re.MULTILINE | re.DOTALL))


def test_hadolint_finds_nothing() -> None:
    command = [str(Path(sys.executable).with_name("hadolint")), str(ROOT / "Dockerfile")]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout


def test_what_is_copied_exists() -> None:
    lines = re.findall(r"^COPY (?!--from)(.*)$", TEXT, re.MULTILINE)
    sources = {source for line in lines for source in line.split()[:-1]}
    assert sorted(source for source in sources if not (ROOT / source).exists()) == []


def test_every_package_of_ours_is_in_the_images_that_run_it() -> None:
    packages = {"memory", "platform", "inference", "workers", "frontend", "manage.py"}
    for stage in ("cpu", "gpu"):
        assert {word for word in STAGES[stage].split() if word in packages} == packages


def test_every_image_runs_as_a_user_by_number() -> None:
    for stage in ("cpu", "gpu", "proxy"):
        assert re.search(r"^USER [1-9]\d*$", STAGES[stage], re.MULTILINE), stage


def test_every_target_that_compose_builds_is_there() -> None:
    built = {service["build"]["target"] for service in compose()["services"].values() if "build" in service}
    assert built == {"cpu", "gpu", "proxy"} <= STAGES.keys()


def test_the_gpu_image_takes_from_the_lock_what_vllms_image_lacks(tmp_path: Path) -> None:
    lock = tmp_path / "requirements.lock"
    lock.write_text("# a comment\nvllm-cpu==0.32.0\nno-such-package==1.0\ndjango==5.2.19\ntorch==2.13.0\n")
    command = [sys.executable, str(ROOT / ".ci" / "not_installed.py"), str(lock)]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "no-such-package==1.0\n"
