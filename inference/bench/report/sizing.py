"""What one engine carries, from what was measured of it: facts and bytes, requests and users, encoding."""

from collections.abc import Iterable, Iterator

from inference.bench.report.grid import Grid
from inference.bench.results import Row
from inference.bench.shapes import SHAPES, Shape

SECONDS_A_MINUTE = 60
GIB = 1 << 30


def sizing_grid(rows: Iterable[Row]) -> Grid:
    """A figure a line, with the command that measured it, or that measured what it is multiplied from."""
    columns = ("shape", "of one engine", "figure", "measured by `manage.py bench`")
    known = list(rows)
    return Grid(columns, [*_encoding(known), *_serving(known)])


def _serving(rows: Iterable[Row]) -> Iterator[list[str]]:
    for row in rows:
        if row.get("kind") != "throughput" or row.get("failed"):
            continue
        load = f"{row['users']} users" if row["users"] else f"{row['rate']} requests/s"
        command = f"throughput, {row['mode']}, {row['k']} facts, {load}"
        rate = row["requests_per_s"]
        yield [row["shape"], f"requests/s, mode {row['mode']}", f"{rate:.1f}", command]
        yield [
            row["shape"],
            f"users who ask once a minute, mode {row['mode']}",
            f"{rate * SECONDS_A_MINUTE:,.0f}",
            command,
        ]


def _encoding(rows: Iterable[Row]) -> Iterator[list[str]]:
    sized = set[str]()
    for row in rows:
        if row.get("kind") != "encode" or row["users"]:
            continue
        command = f"encode, {row['strategy']}"
        if (shape := SHAPES.get(row["shape"])) and row["shape"] not in sized and row.get("fact_tokens"):
            sized.add(row["shape"])
            yield from _facts(shape, row["fact_tokens"] / row["facts"], command)
        yield [row["shape"], f"facts encoded/s, {row['strategy']}", f"{row['facts_per_s']:.1f}", command]


def _facts(shape: Shape, tokens: float, command: str) -> Iterator[list[str]]:
    size = tokens * shape.kv_bytes_per_token
    yield [shape.name, f"bytes of a fact of {tokens:.1f} tokens, bfloat16 rows", f"{size / 1e6:.2f} MB", command]
    yield [shape.name, "facts in 1 GiB of GPU memory, host memory or disk", f"{GIB / size:,.0f}", command]
