"""Log messages: a line or a JSON object, each with the id of the request that it belongs to."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from config.env import ROOT

SAY = """
import logging, django
django.setup()
from config.request_id import current_request_id
current_request_id.set("req-1")
logging.getLogger("facts.services").info("stored %d", 3, extra={"facts": 3})
try:
    1 / 0
except ZeroDivisionError:
    logging.getLogger("workers").exception("failed")
logging.getLogger("some.library").warning("careful")
"""


def said(tmp_path: Path, form: str) -> list[str]:
    environment = {
        "PYTHONPATH": f"{ROOT}:{ROOT / 'platform'}",
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "INFERSCALE_HOME": str(tmp_path),
        "INFERSCALE_LOG_FORMAT": form,
    }
    result = subprocess.run([sys.executable, "-c", SAY], env=environment, capture_output=True, text=True, check=True)
    return result.stderr.splitlines()


def test_every_message_is_one_json_object(tmp_path: Path) -> None:
    stored, failed, careful = (json.loads(line) for line in said(tmp_path, "json"))
    assert {name: stored[name] for name in ("level", "logger", "request_id", "message", "facts")} == {
        "level": "INFO",
        "logger": "facts.services",
        "request_id": "req-1",
        "message": "stored 3",
        "facts": 3,
    }
    assert "time" in stored
    assert "ZeroDivisionError" in failed["exc_info"]
    assert (careful["logger"], careful["level"]) == ("some.library", "WARNING")


def test_a_line_has_the_id_too(tmp_path: Path) -> None:
    assert said(tmp_path, "line")[0].endswith(" INFO facts.services req-1 stored 3")


@pytest.mark.parametrize("form", ["LINE", "xml"])
def test_other_forms_are_refused(tmp_path: Path, form: str) -> None:
    with pytest.raises(subprocess.CalledProcessError) as caught:
        said(tmp_path, form)
    assert "INFERSCALE_LOG_FORMAT" in caught.value.stderr
