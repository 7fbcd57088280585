"""Identity of a served model: anything that would change KV changes the fingerprint."""

import hashlib
import json
from pathlib import Path

HEAD_BYTES = 1 << 20


def model_fingerprint(
    model: str | Path, kv_cache_dtype: str = "auto", row_dtype: str = "auto", *, ranks: int = 1
) -> str:
    """SHA-256 (hex, 32 characters) of config, tokenizer and weights of a model folder, the dtypes KV has, and the
    tensor-parallel `ranks` that keep a shard of it each: none can read the shards of another number.

    Weights are told apart by name, size, first and last MiB: a safetensors header and both ends of its data, without
    reading gigabytes. A model that is not a local folder is resolved through the Hugging Face cache.
    """
    folder = _local_folder(str(model))
    parts: list[object] = [kv_cache_dtype, *([] if row_dtype == "auto" else [row_dtype])]
    if ranks > 1:
        parts.append(["ranks", ranks])
    for name in ("config.json", "tokenizer.json", "tokenizer.model", "tokenizer_config.json", "chat_template.jinja"):
        path = folder / name
        if path.exists():
            parts.append([name, hashlib.sha256(path.read_bytes()).hexdigest()])
    for pattern in ("*.safetensors", "*.bin"):
        parts += [[path.name, path.stat().st_size, _ends(path)] for path in sorted(folder.glob(pattern))]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]


def encoding_fingerprint(fingerprint: str, header_text: str) -> str:
    """What an encoding is current for: the model and the text before the first fact (template and memory header)."""
    return hashlib.sha256(json.dumps([fingerprint, header_text]).encode()).hexdigest()[:32]


def _ends(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        digest.update(stream.read(HEAD_BYTES))
        stream.seek(max(0, path.stat().st_size - HEAD_BYTES))
        digest.update(stream.read(HEAD_BYTES))
    return digest.hexdigest()


def _local_folder(model: str) -> Path:
    folder = Path(model)
    if folder.is_dir():
        return folder
    from huggingface_hub import snapshot_download

    return Path(snapshot_download(model, local_files_only=True))
