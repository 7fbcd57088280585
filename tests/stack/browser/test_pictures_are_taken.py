"""The command that takes the README's pictures, against the running product."""

import subprocess
import sys
from pathlib import Path

import pytest
from config.env import ROOT
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from PIL import Image, ImageStat
from tenants.models import Tenant

from frontend.screenshots import HEIGHT, MOST_BYTES, WIDTH
from tests.stack.app import App
from tests.stack.stack import Stack

pytestmark = pytest.mark.django_db


def test_every_page_has_a_light_and_a_dark_picture(
    app: App, stack: Stack, home: Tenant, owner: User, tmp_path: Path
) -> None:
    app.remember("ada", "Ada keeps bees behind her house.")
    app.until_encoded("ada")
    app.ask("ada", "What does Ada keep?")
    sessions = Session.objects.count()
    options = ("--tenant", home.slug, "--user", owner.username, "--url", stack.web_url, "--folder", str(tmp_path))
    command = [sys.executable, str(ROOT / "manage.py"), "screenshots", *options]
    done = subprocess.run(command, env=stack.environment(), capture_output=True, text=True, timeout=500, check=False)
    assert done.returncode == 0, done.stderr
    names = {path.stem for path in tmp_path.glob("*.png")}
    pages = {name.rsplit("-", 1)[0] for name in names}
    assert pages >= {"overview", "facts", "playground", "requests", "kv"}
    assert names == {f"{page}-{theme}" for page in pages for theme in ("light", "dark")}
    for page in pages:
        light, dark = (Image.open(tmp_path / f"{page}-{theme}.png").convert("L") for theme in ("light", "dark"))
        assert light.size == dark.size == (WIDTH, HEIGHT)
        assert ImageStat.Stat(light).mean[0] > 200
        assert ImageStat.Stat(dark).mean[0] < 60
    assert all(path.stat().st_size <= MOST_BYTES for path in tmp_path.glob("*.png"))
    assert Session.objects.count() == sessions
