"""`manage.py bench accuracy`: injected answers against those of the full prompt."""

import hashlib
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from django.conf import settings
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from inference.bench.accuracy.judge import Judge, judge_all
from inference.bench.accuracy.locomo import Conversation, read_conversations
from inference.bench.accuracy.modes import Mode, parse_modes
from inference.bench.accuracy.records import Records, records_path
from inference.bench.accuracy.run import AccuracyBench, load_model, missing
from inference.bench.accuracy.summary import summarise, write_summary
from inference.bench.cli.arguments import add_k, at_least
from inference.bench.errors import BenchError
from inference.bench.inprocess import GRAPHS, GRAPHS_HELP, EngineSettings, InProcessEngine, has_gpu
from inference.bench.machine import machine
from inference.bench.report.accuracy import accuracy_grid
from inference.bench.shapes import shape_of_folder
from memory.models import DEMO, resolve_embedding_model, resolve_model, served_name

HELP = (
    "answers with injected facts against answers with the same facts as text, on a LoCoMo file; starts its own engine"
)
MODES = "none,turns(0),turns(20),neighbours(0),neighbours(16),nearest(16),window(16),prompt again"
PROBE = "inference.bench.accuracy.probe:AnswerProbe"
LONGEST = 8192
ARENA_SLACK = 2.5
LEAST_ARENA = 256 << 20
CHARACTERS_A_TOKEN = 2


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--data", type=Path, required=True, help="LoCoMo's JSON, or that with .xz")
    parser.add_argument("--model", default=DEMO, help=f"a Hugging Face model's folder ({DEMO})")
    parser.add_argument("--embedding-model", default=DEMO, help=f"a sentence-transformers model's folder ({DEMO})")
    add_k(parser, "50")
    parser.add_argument("--strategies", type=_modes, default=MODES, help=f"modes and strategies ({MODES})")
    parser.add_argument("--conversations", type=at_least(1), help="only the first so many (all)")
    parser.add_argument("--questions", type=at_least(1), help="only the first so many of each conversation (all)")
    parser.add_argument("--max-num-seqs", type=at_least(1), help="requests the engine runs at once (256, 16 on a CPU)")
    parser.add_argument("--cudagraph", choices=GRAPHS, default="served", help=GRAPHS_HELP)
    parser.add_argument("--gpu-memory-utilization", type=float, default=0.6, help="vLLM's share of a GPU")
    parser.add_argument("--kv-cache-gib", type=at_least(1), help="vLLM's KV cache (what its share leaves)")
    parser.add_argument("--judge", help="an OpenAI-compatible endpoint that judges the answers (none)")
    parser.add_argument("--judge-model", help="the model asked there")
    parser.add_argument("--judge-key-file", type=Path, help="a file with the endpoint's key")
    parser.add_argument(
        "--json",
        type=Path,
        required=True,
        help="summary; the questions' rows go beside it; {k} in the name for several k",
    )


def run(options: Mapping[str, Any], console: Console) -> None:
    conversations = chosen(read_conversations(options["data"]), options["conversations"], options["questions"])
    paths = summary_paths(options["json"], options["k"])
    records = {k: Records(records_path(path)) for k, path in paths.items()}
    modes: Sequence[Mode] = options["strategies"]
    judge = judge_of(options["judge"], options["judge_model"], options["judge_key_file"])
    left = sum(len(missing(conversation, modes, records)) for conversation in conversations)
    if left:
        _measure(options, conversations, modes, records, left, console)
    if judge:
        _judge(judge, conversations, records.values(), console)
    for k, path in paths.items():
        try:
            summary = summarise(records[k])
        except ValueError as error:
            raise BenchError(f"{path}: {error}") from error
        write_summary(path, summary)
        console.print(
            accuracy_grid([{"kind": "accuracy", **summary}]).rich(
                f"{summary['model']}, k = {k}, {summary['questions']} questions"
            )
        )


def chosen(found: Sequence[Conversation], most: int | None, questions: int | None) -> list[Conversation]:
    return [conversation.with_first(questions) for conversation in found[:most]]


def summary_paths(path: Path, ks: Sequence[int]) -> dict[int, Path]:
    """Raises BenchError when several k would go to one file, FileNotFoundError when the folder is missing."""
    if len(ks) > 1 and "{k}" not in path.name:
        raise BenchError(f"with several k, --json needs {{k}} in the file's name, not {path.name!r}")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {path.parent}")
    return {k: path.with_name(path.name.replace("{k}", str(k))) for k in ks}


def judge_of(url: str | None, model: str | None, key_file: Path | None) -> Judge | None:
    """Raises BenchError when only one of endpoint and model is named, OSError."""
    if not url and not model:
        return None
    if not url or not model:
        raise BenchError("--judge and --judge-model go together")
    return Judge(url, model, key_file.read_text().strip() if key_file else "")


def _judge(judge: Judge, conversations: Sequence[Conversation], records: Iterable[Records], console: Console) -> None:
    with Progress(console=console, transient=True) as bar:
        for of_k in records:
            task = bar.add_task("judging", total=len(of_k.questions) - len(of_k.judged))
            judge_all(judge, conversations, of_k, partial(bar.advance, task))


def _modes(text: str) -> list[Mode]:
    try:
        return parse_modes(text)
    except ValueError as error:
        raise ArgumentTypeError(str(error)) from error


def _measure(
    options: Mapping[str, Any],
    conversations: Sequence[Conversation],
    modes: Sequence[Mode],
    records: dict[int, Records],
    left: int,
    console: Console,
) -> None:
    home = settings.ENV.home
    home.mkdir(parents=True, exist_ok=True)
    folder = resolve_model(options["model"], home)
    name = served_name(options["model"], home)
    digest = hashlib.sha256(options["data"].read_bytes()).hexdigest()
    subject = {"model": name, "dataset": digest, "machine": machine()}
    for k, of_k in records.items():
        of_k.check({**subject, "k": k})
    embed = _embedder(resolve_embedding_model(options["embedding_model"], home))
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with TemporaryDirectory(prefix="bench-blobs-", dir=home, ignore_cleanup_errors=True) as store:
        asked = _engine_settings(folder, Path(store), conversations, options)
        with InProcessEngine(asked) as engine, Progress(*columns, console=console, transient=True) as bar:
            for k, of_k in records.items():
                of_k.begin({**subject, "k": k, "engine": engine.facts})
            model = load_model(folder, pass_tokens=settings.ENV.encode_tokens)
            bench = AccuracyBench(engine, model, embed, modes, records)
            task = bar.add_task("measuring", total=left)
            for conversation in conversations:

                def told(mode: Mode, k: int, name: str = conversation.name) -> None:
                    bar.update(task, advance=1, description=f"{name}, {mode.name}, k = {k}")

                bench.run(conversation, told)
                if not console.is_terminal:
                    console.print(f"{conversation.name}: {bar.tasks[task].completed:.0f} of {left} done")


def _embedder(folder: Path) -> Any:
    from memory.retrieval import get_embedder

    return get_embedder(folder, "cuda" if has_gpu() else "cpu").encode


def _engine_settings(
    folder: Path, store: Path, conversations: Sequence[Conversation], options: Mapping[str, Any]
) -> EngineSettings:
    shape = shape_of_folder(folder)
    most = max(sum(len(fact.text) for fact in conversation.facts) for conversation in conversations)
    room = max(LEAST_ARENA, int(most / CHARACTERS_A_TOKEN * shape.kv_bytes_per_token * ARENA_SLACK))
    arguments: dict[str, Any] = {"logits_processors": [PROBE], "async_scheduling": False}
    if options["max_num_seqs"] or has_gpu():
        arguments["max_num_seqs"] = options["max_num_seqs"] or 256
    if options["kv_cache_gib"]:
        arguments["kv_cache_memory_bytes"] = options["kv_cache_gib"] << 30
    return EngineSettings(
        model=folder,
        store=store,
        max_model_len=min(shape.max_positions, LONGEST),
        host_bytes=room,
        gpu_bytes=room,
        cudagraph=options["cudagraph"],
        gpu_memory_utilization=options["gpu_memory_utilization"],
        arguments=arguments,
    )
