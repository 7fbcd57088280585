"""Pictures of the dashboard's pages as they are served, light and dark, small enough for a repository."""

import io
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from django.conf import settings
from PIL import Image

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
Theme = Literal["light", "dark"]
THEMES: tuple[Theme, ...] = ("light", "dark")
WIDTH, HEIGHT = 1440, 900
MOST_BYTES = 150_000
COLOURS = (256, 128, 64)
WAIT_MS = 120_000


class NotShown(Exception):
    """A page is not as the picture needs it; the message says why."""


@dataclass(frozen=True, slots=True)
class Shot:
    """`prepare` is done once the page is loaded, before its picture is taken."""

    name: str
    path: str
    prepare: "Callable[[Page], None]" = lambda page: None


def find_chromium() -> str | None:
    """Its path."""
    return next(filter(None, map(shutil.which, BROWSERS)), None)


def take(shots: list[Shot], *, url: str, session: str, chromium: str, folder: Path) -> Iterator[Path]:
    """The files as they are written. Raises NotShown."""
    from playwright.sync_api import Error, sync_playwright

    folder.mkdir(parents=True, exist_ok=True)
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--hide-scrollbars"])
            for theme in THEMES:
                yield from _take(shots, _page(browser, theme, url, session), theme, folder)
            browser.close()
    except Error as error:
        raise NotShown(str(error)) from error


def _page(browser: "Browser", theme: Theme, url: str, session: str) -> "Page":
    context = browser.new_context(
        base_url=url,
        color_scheme=theme,
        reduced_motion="reduce",
        viewport={"width": WIDTH, "height": HEIGHT},
    )
    context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": session, "url": url}])
    page = context.new_page()
    page.set_default_timeout(WAIT_MS)
    return page


def _take(shots: list[Shot], page: "Page", theme: Theme, folder: Path) -> Iterator[Path]:
    for shot in shots:
        page.goto(shot.path, wait_until="networkidle")
        shot.prepare(page)
        page.wait_for_timeout(500)
        file = folder / f"{shot.name}-{theme}.png"
        file.write_bytes(small(page.screenshot()))
        yield file


def ask(user: str, question: str) -> "Callable[[Page], None]":
    """Fill in the playground's form and wait for both answers."""

    def prepare(page: "Page") -> None:
        page.get_by_label("User").fill(user)
        page.get_by_label("Question").fill(question)
        page.get_by_role("button", name="Ask").click()
        for column in page.locator("[data-column]").all():
            column.locator("[data-figure=total]:not(:text-is('–')), .problem").first.wait_for()
        if (problems := page.locator("[data-column] .problem")).count():
            raise NotShown(f"the playground gets no answer: {problems.first.inner_text()}")

    return prepare


def small(png: bytes) -> bytes:
    """With a palette of as many colours as fit into MOST_BYTES."""
    picture = Image.open(io.BytesIO(png)).convert("RGB")
    packed = png
    for colours in COLOURS:
        out = io.BytesIO()
        palette = picture.quantize(colours, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
        palette.save(out, "PNG", optimize=True)
        packed = out.getvalue()
        if len(packed) <= MOST_BYTES:
            break
    return packed
