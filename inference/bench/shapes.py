"""Model folders that have a real model's shape and no weights: speed needs none, with vLLM's `load_format=dummy`."""

import json
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from inference.bench.errors import BenchError
from inference.bench.vocabulary import resize_vocabulary
from memory.models import DEMO, resolve_model

FOLDER = "shapes"
BFLOAT16_BYTES = 2


class UnknownShapeError(BenchError):
    """The message names the known ones."""


@dataclass(frozen=True)
class Shape:
    """What decides a model's speed; `extra` holds what else its config.json needs."""

    name: str
    architecture: str
    model_type: str
    layers: int
    heads: int
    kv_heads: int
    head_dim: int
    hidden: int
    mlp: int
    vocabulary: int
    max_positions: int
    rope_theta: float
    extra: dict[str, Any] = field(default_factory=dict)

    @property
    def kv_bytes_per_token(self) -> int:
        """Of all layers' keys and values in bfloat16."""
        return 2 * self.layers * self.kv_heads * self.head_dim * BFLOAT16_BYTES

    @property
    def parameters(self) -> int:
        """Those read at each step: all matrices but the input embedding."""
        attention = self.hidden * self.head_dim * (2 * self.heads + 2 * self.kv_heads)
        return self.layers * (attention + 3 * self.hidden * self.mlp) + self.hidden * self.vocabulary

    @property
    def config(self) -> dict[str, Any]:
        """Content of config.json; token ids are those of the tokenizer that `make_shape` puts beside it."""
        return {
            "architectures": [self.architecture],
            "model_type": self.model_type,
            "torch_dtype": "bfloat16",
            "hidden_act": "silu",
            "hidden_size": self.hidden,
            "intermediate_size": self.mlp,
            "num_hidden_layers": self.layers,
            "num_attention_heads": self.heads,
            "num_key_value_heads": self.kv_heads,
            "head_dim": self.head_dim,
            "max_position_embeddings": self.max_positions,
            "rope_theta": self.rope_theta,
            "rms_norm_eps": 1e-5,
            "vocab_size": self.vocabulary,
            "tie_word_embeddings": False,
            "use_cache": True,
            **self.extra,
        }


LLAMA3_ROPE = {
    "rope_type": "llama3",
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 8192,
}
NO_BIAS = {"attention_bias": False, "mlp_bias": False}
NO_WINDOW = {"use_sliding_window": False, "sliding_window": None}

SHAPES = {
    shape.name: shape
    for shape in (
        Shape(
            "llama-3.1-8b", "LlamaForCausalLM", "llama", 32, 32, 8, 128, 4096, 14336, 128256, 131072, 500000.0,
            {"rope_scaling": LLAMA3_ROPE, **NO_BIAS},
        ),
        Shape(
            "mistral-7b", "MistralForCausalLM", "mistral", 32, 32, 8, 128, 4096, 14336, 32768, 32768, 1e6,
            {"sliding_window": None},
        ),
        Shape(
            "qwen2.5-7b", "Qwen2ForCausalLM", "qwen2", 28, 28, 4, 128, 3584, 18944, 152064, 32768, 1e6, NO_WINDOW
        ),
        Shape(
            "qwen3-14b", "Qwen3ForCausalLM", "qwen3", 40, 40, 8, 128, 5120, 17408, 151936, 40960, 1e6,
            {"attention_bias": False, **NO_WINDOW},
        ),
        Shape("tiny", "LlamaForCausalLM", "llama", 2, 4, 2, 32, 128, 256, 1024, 32768, 10000.0, NO_BIAS),
    )
}  # fmt: skip


def shape_named(name: str) -> Shape:
    """Raises UnknownShapeError."""
    if name not in SHAPES:
        raise UnknownShapeError(f"a shape is one of {', '.join(SHAPES)} or {DEMO}, not {name!r}")
    return SHAPES[name]


def shape_of_folder(folder: Path) -> Shape:
    """The shape written in a model folder's config.json. Raises OSError, and KeyError on other architectures."""
    config = json.loads((folder / "config.json").read_text())
    heads, hidden = config["num_attention_heads"], config["hidden_size"]
    return Shape(
        name=folder.resolve().name,
        architecture=config["architectures"][0],
        model_type=config["model_type"],
        layers=config["num_hidden_layers"],
        heads=heads,
        kv_heads=config.get("num_key_value_heads") or heads,
        head_dim=config.get("head_dim") or hidden // heads,
        hidden=hidden,
        mlp=config["intermediate_size"],
        vocabulary=config["vocab_size"],
        max_positions=config["max_position_embeddings"],
        rope_theta=config.get("rope_theta", 10000.0),
    )


def make_shape(shape: Shape, home: Path) -> Path:
    """The shape's folder, written anew: config.json, and the demo model's tokenizer and chat template fitted to it."""
    folder, demo = home / "models" / FOLDER / shape.name, resolve_model(DEMO, home)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    special = json.loads((demo / "generation_config.json").read_text())
    tokenizer = resize_vocabulary(json.loads((demo / "tokenizer.json").read_text()), shape.vocabulary)
    settings = json.loads((demo / "tokenizer_config.json").read_text()) | {"model_max_length": shape.max_positions}
    for name, content in {
        "config.json": shape.config | special,
        "generation_config.json": special,
        "tokenizer.json": tokenizer,
        "tokenizer_config.json": settings,
    }.items():
        (folder / name).write_text(json.dumps(content) + "\n")
    return folder
