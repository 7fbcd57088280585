"""Arguments that several kinds take. Wrong values are refused by argparse, with the option's name."""

from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Callable
from pathlib import Path

MAX_K = 1000


def numbers(least: float, most: float) -> Callable[[str], list[float]]:
    """Comma-separated numbers within bounds."""

    def parse(text: str) -> list[float]:
        try:
            values = [float(part) for part in text.split(",")]
        except ValueError:
            values = []
        if not values or not all(least <= value <= most for value in values):
            raise ArgumentTypeError(f"takes numbers from {least:g} to {most:g}, separated by commas, not {text!r}")
        return values

    return parse


def counts(most: int) -> Callable[[str], list[int]]:
    """Comma-separated whole numbers from 1."""
    parse_numbers = numbers(1, most)

    def parse(text: str) -> list[int]:
        values = parse_numbers(text)
        if any(value != int(value) for value in values):
            raise ArgumentTypeError(f"takes whole numbers, not {text!r}")
        return [int(value) for value in values]

    return parse


def at_least(least: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        if not text.isdecimal() or int(text) < least:
            raise ArgumentTypeError(f"must be a whole number of at least {least}, not {text!r}")
        return int(text)

    return parse


def some_of(known: tuple[str, ...]) -> Callable[[str], list[str]]:
    """Comma-separated names, each once."""

    def parse(text: str) -> list[str]:
        names = list(dict.fromkeys(text.split(",")))
        if strangers := [name for name in names if name not in known]:
            raise ArgumentTypeError(f"takes some of {','.join(known)}, not {strangers[0]!r}")
        return names

    return parse


def add_json(parser: ArgumentParser) -> None:
    parser.add_argument("--json", type=Path, help="add the rows, with raw samples, to this file")


def add_k(parser: ArgumentParser, default: str) -> None:
    parser.add_argument(
        "--k", type=counts(MAX_K), default=default, help=f"facts a request, comma-separated ({default})"
    )
