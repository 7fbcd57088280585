"""Shapes are the real models' and their folders load."""

import json
from pathlib import Path

import pytest
from django.conf import settings
from transformers import AutoConfig, AutoTokenizer

from inference.bench.shapes import SHAPES, UnknownShapeError, make_shape, shape_named, shape_of_folder
from inference.bench.vocabulary import resize_vocabulary
from memory.models import resolve_model


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo model is not converted anew for it."""
    home = tmp_path_factory.mktemp("home")
    demo = resolve_model("demo", settings.ENV.home)
    (home / "models").mkdir()
    (home / "models" / demo.name).symlink_to(demo)
    return home


@pytest.mark.parametrize(
    ("name", "kv_bytes", "billions"),
    [
        ("llama-3.1-8b", 131072, 7.5),  # 8.03 with the input embedding, which a step does not read
        ("mistral-7b", 131072, 7.1),
        ("qwen2.5-7b", 57344, 7.1),
        ("qwen3-14b", 163840, 14.0),
    ],
)
def test_a_shape_has_the_real_models_size(name: str, kv_bytes: int, billions: float) -> None:
    shape = shape_named(name)
    assert shape.kv_bytes_per_token == kv_bytes
    assert shape.parameters / 1e9 == pytest.approx(billions, abs=0.05)


def test_an_unknown_shape_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UnknownShapeError, match=r"qwen3-14b, tiny or demo, not 'gpt'"):
        shape_named("gpt")


@pytest.mark.parametrize("name", SHAPES)
def test_config_and_rope_are_read_as_written(name: str, home: Path) -> None:
    shape = SHAPES[name]
    folder = make_shape(shape, home)
    config = AutoConfig.from_pretrained(folder)
    assert config.num_key_value_heads * config.head_dim == shape.kv_heads * shape.head_dim
    assert config.rope_parameters["rope_theta"] == shape.rope_theta
    assert config.rope_parameters["rope_type"] == ("llama3" if name == "llama-3.1-8b" else "default")
    again = shape_of_folder(folder)
    assert (again.kv_bytes_per_token, again.parameters) == (shape.kv_bytes_per_token, shape.parameters)


@pytest.mark.parametrize("name", ["tiny", "qwen2.5-7b"])  # smaller and larger than the demo model's vocabulary
def test_every_id_decodes_and_text_survives(name: str, home: Path) -> None:
    shape = SHAPES[name]
    tokenizer = AutoTokenizer.from_pretrained(make_shape(shape, home))
    assert len(tokenizer) == shape.vocabulary
    assert None not in tokenizer.convert_ids_to_tokens(list(range(shape.vocabulary)))
    text = "On Monday, Ina paid 30 coins — in cash."
    ids = tokenizer.encode(text)
    assert tokenizer.decode(ids) == text
    assert max(ids) < shape.vocabulary
    assert tokenizer.decode([shape.vocabulary - 1])
    chat = tokenizer.apply_chat_template([{"role": "user", "content": "Hello"}], tokenize=False)
    assert tokenizer.decode(tokenizer.encode(chat)) == chat
    assert tokenizer.encode("<|im_start|>") == [1]


def test_added_words_are_never_what_text_is_split_into(home: Path) -> None:
    demo = json.loads((resolve_model("demo", home) / "tokenizer.json").read_text())
    before = len(demo["model"]["vocab"])
    folder = make_shape(SHAPES["qwen2.5-7b"], home)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    assert max(tokenizer.encode(f"~{before}~ and ~{before + 1}~")) < before


def test_a_vocabulary_too_small_for_bytes_and_special_tokens_is_refused(home: Path) -> None:
    demo = json.loads((resolve_model("demo", home) / "tokenizer.json").read_text())
    with pytest.raises(ValueError, match="20 ids are too few"):
        resize_vocabulary(demo, 20)
