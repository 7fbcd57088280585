"""Pictures for the README: made by one command, small, and refused with the reason where something is missing."""

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from PIL import Image

from frontend.management.commands import screenshots
from frontend.screenshots import MOST_BYTES, small
from tests.workers.troubled_engine import free_port


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(screenshots.NEEDED, "no_such_module", "playwright")
    with pytest.raises(CommandError, match="need playwright, which comes with what the tests need"):
        call_command("screenshots")


def test_a_missing_browser_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(CommandError, match="package chromium"):
        call_command("screenshots")


def test_without_a_demo_it_says_what_to_start(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    browser = tmp_path / "chromium"  # found, and not started before something is served
    browser.touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(CommandError, match="start `make demo` first"):
        call_command("screenshots", url=f"http://127.0.0.1:{free_port()}")


@pytest.mark.parametrize("noise", [0, 255])
def test_pictures_are_small_and_keep_their_size(noise: int) -> None:
    pixels = np.random.default_rng(7).integers(0, noise + 1, (300, 400, 3), dtype=np.uint8)
    raw = io.BytesIO()
    Image.fromarray(pixels).save(raw, "PNG")
    packed: Any = Image.open(io.BytesIO(small(raw.getvalue())))
    assert packed.size == (400, 300)
    assert len(small(raw.getvalue())) <= MOST_BYTES
