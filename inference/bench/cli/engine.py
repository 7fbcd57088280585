"""`manage.py bench engine`: TTFT without HTTP."""

import fcntl
from argparse import ArgumentParser, BooleanOptionalAction
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from django.conf import settings
from rich.console import Console
from rich.progress import Progress

from inference.bench.bandwidth import bandwidth
from inference.bench.cli.arguments import add_json, add_k, at_least, some_of
from inference.bench.cli.output import results_for
from inference.bench.engine_latency import (
    MODES,
    TIERS,
    EngineLatency,
    fastest_tier,
    latency_rows,
    longest_request,
    pool_tokens,
)
from inference.bench.inprocess import GRAPHS, GRAPHS_HELP, EngineSettings, InProcessEngine
from inference.bench.report.latency import latency_table
from inference.bench.results import ResultFile, Row, rounded
from inference.bench.shapes import SHAPES, Shape, make_shape, shape_named, shape_of_folder
from memory.models import DEMO, resolve_model

HELP = "time to first token in the engine alone, no HTTP; starts its own engine, needs no other process"
SAVE_EVERY = 10
ARENA_SLACK = 1.3
LEAST_ARENA = 256 << 20


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--shape", default=DEMO, help=f"{', '.join(SHAPES)}, or {DEMO}: the demo model ({DEMO})")
    add_k(parser, "5,50,500")
    parser.add_argument("--modes", type=some_of(MODES), default=list(MODES), help="comma-separated (all)")
    parser.add_argument(
        "--tier", type=some_of(TIERS), help="where blobs lie when asked for: gpu,host,disk (the fastest)"
    )
    parser.add_argument("--samples", type=at_least(2), default=50, help="requests of each case (50)")
    parser.add_argument("--row-dtype", choices=("auto", "fp8"), default="auto", help="how blobs are held")
    parser.add_argument("--cudagraph", choices=GRAPHS, default="served", help=GRAPHS_HELP)
    parser.add_argument("--block-size", type=at_least(1), help="tokens of a block (a GPU: 128, as serve has it)")
    parser.add_argument(
        "--async-scheduling",
        action=BooleanOptionalAction,
        help="schedule a step while the last one runs (vLLM's choice)",
    )
    parser.add_argument("--gpu-memory-utilization", type=float, default=0.8, help="vLLM's share beside the arena")
    parser.add_argument("--kv-cache-gib", type=at_least(1), help="vLLM's cache beside the arena, instead of a share")
    parser.add_argument(
        "--turn", type=Path, metavar="FILE", help="measure only while holding this lock: engines may start side by side"
    )
    parser.add_argument("--again", action="store_true", help="also what the JSON file has already")
    add_json(parser)


def run(options: Mapping[str, Any], console: Console) -> None:
    home, name = settings.ENV.home, options["shape"]
    shape = None if name == DEMO else shape_named(name)
    folder = resolve_model(DEMO, home) if shape is None else make_shape(shape, home)
    shape = shape or shape_of_folder(folder)
    results = results_for(options["json"])
    tiers = options["tier"] or [fastest_tier()]
    common: Row = {"shape": shape.name, "row_dtype": options["row_dtype"], "cudagraph": options["cudagraph"]}
    ks = [k for k in options["k"] if options["again"] or not _is_measured(results, common, k, tiers, options)]
    if not ks:
        console.print(f"{options['json']} has all of it; --again measures anew")
        return
    with TemporaryDirectory(prefix="bench-blobs-", dir=home) as store:
        asked = _engine_settings(shape, folder, Path(store), ks, options)
        with InProcessEngine(asked) as engine, turn(options["turn"]):
            rows = _measure(engine, shape, ks, tiers, common | engine.facts, options, results, console)
    console.print(latency_table(rows))


def _measure(
    engine: InProcessEngine,
    shape: Shape,
    ks: list[int],
    tiers: list[Any],
    common: Row,
    options: Mapping[str, Any],
    results: ResultFile | None,
    console: Console,
) -> list[Row]:
    bench = EngineLatency(engine, vocabulary=shape.vocabulary, ks=ks, modes=options["modes"], tiers=tiers)
    bench.encode()
    rows: list[Row] = []
    with Progress(console=console, transient=True) as bar:
        task = bar.add_task(f"measuring {shape.name}", total=options["samples"])
        rounds = bench.run(options["samples"], progress=lambda done: bar.update(task, completed=done))
        for number, taken in enumerate(rounds, start=1):
            if number % SAVE_EVERY == 0 or number == options["samples"]:
                rows = latency_rows(taken, common)
                if results:
                    results.put(rows)
    decode: Row = {**common, "kind": "decode", "transport": "engine", "samples_ms": rounded(bench.decode_ms())}
    if results:
        results.put([decode, *([found] if (found := bandwidth()) else [])])
    return rows


@contextmanager
def turn(lock: Path | None) -> Iterator[None]:
    """Alone among the processes that name the same file; None: at once."""
    if lock is None:
        yield
        return
    with lock.open("a") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield


def _is_measured(results: ResultFile | None, common: Row, k: int, tiers: list[str], options: Mapping[str, Any]) -> bool:
    """Whether every mode and tier at this k stands in the file with enough samples."""
    if results is None:
        return False
    cases = [(mode, tier) for mode in options["modes"] for tier in (tiers if mode == "inject" else tiers[:1])]
    fixed = {**common, "kind": "latency", "transport": "engine", "k": k}
    return all(results.has({**fixed, "mode": mode, "tier": tier}, options["samples"]) for mode, tier in cases)


def _engine_settings(
    shape: Shape, folder: Path, store: Path, ks: list[int], options: Mapping[str, Any]
) -> EngineSettings:
    arguments = {name: options[name] for name in ("block_size", "async_scheduling") if options[name] is not None}
    if options["kv_cache_gib"]:
        arguments["kv_cache_memory_bytes"] = options["kv_cache_gib"] << 30
    room = max(LEAST_ARENA, int(pool_tokens(ks) * shape.kv_bytes_per_token * ARENA_SLACK))
    return EngineSettings(
        model=folder,
        store=store,
        max_model_len=min(shape.max_positions, max(2048, longest_request(ks))),
        host_bytes=2 * room,
        gpu_bytes=room,
        row_dtype=options["row_dtype"],
        random_weights=options["shape"] != DEMO,
        cudagraph=options["cudagraph"],
        gpu_memory_utilization=options["gpu_memory_utilization"],
        arguments=arguments,
    )
