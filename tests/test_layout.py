"""The folder rules that nothing else would notice."""

import subprocess
import sys
import sysconfig
from pathlib import Path

from config.env import ROOT


def test_the_platform_folder_is_never_a_package() -> None:
    """It would shadow the standard library's module of that name."""
    assert not (ROOT / "platform" / "__init__.py").exists()
    assert not (ROOT / "tests" / "platform").exists()


def test_platform_is_the_standard_librarys() -> None:
    code = "import platform; print(platform.__file__)"
    found = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert Path(found.stdout.strip()) == Path(sysconfig.get_path("stdlib")) / "platform.py"


def test_every_folder_with_tests_is_a_package() -> None:
    """Otherwise two test files of one name collide."""
    folders = {path.parent for path in (ROOT / "tests").rglob("*.py")}
    assert [str(folder) for folder in sorted(folders) if not (folder / "__init__.py").exists()] == []


def test_nobody_imports_whom_they_should_not() -> None:
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout
