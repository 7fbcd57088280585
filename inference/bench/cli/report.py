"""`manage.py bench report`: tables and plots from result files."""

import os
from argparse import ArgumentParser
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from config.env import ROOT
from rich.console import Console

from inference.bench.report.plots import draw_all
from inference.bench.report.readme import with_sections
from inference.bench.report.sections import sections
from inference.bench.results import read_measured

HELP = "make tables (between the README's bench markers) and SVG plots of result files"
README = ROOT / "README.md"


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("files", nargs="+", type=Path, help="JSON written by the other kinds")
    parser.add_argument("--readme", type=Path, default=README, help="the file with the markers (README.md)")
    parser.add_argument("--plots", type=Path, help="folder for the plots (that of the first file)")
    parser.add_argument("--no-plots", action="store_true", help="tables only, which need no matplotlib")
    parser.add_argument("--print", action="store_true", help="show the tables and write nothing")


def run(options: Mapping[str, Any], console: Console) -> None:
    files = [read_measured(path) for path in options["files"]]
    made = sections(files)
    if options["print"]:
        for name, content in made.items():
            console.print(f"{name}\n\n{content}\n", markup=False, soft_wrap=True)
        return
    readme: Path = options["readme"]
    drawn: dict[str, list[Path]] = {}
    if not options["no_plots"]:
        rows = [row for content in files for row in content["rows"]]
        drawn = draw_all(rows, options["plots"] or options["files"][0].parent)
    text = with_sections(
        readme.read_text(), {name: _with_plots(made[name], drawn.get(name, []), readme) for name in made}
    )
    readme.write_text(text)
    console.print(f"{readme}: {', '.join(made) or 'nothing'}", soft_wrap=True)
    for paths in drawn.values():
        console.print(*map(str, paths), sep="\n", soft_wrap=True)


def _with_plots(content: str, paths: list[Path], readme: Path) -> str:
    links = [f"![{path.stem}]({os.path.relpath(path, readme.parent)})" for path in paths]
    return "\n\n".join([content, *links])
