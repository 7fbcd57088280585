"""The demo models come out of their packages whole, once, and usable."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM, AutoTokenizer

from memory.models import resolve_embedding_model, resolve_model

RESOLVE = (
    "import sys; from pathlib import Path; from memory.models import resolve_model as r; r('demo', Path(sys.argv[1]))"
)
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def model_folder(home: Path) -> Path:
    return resolve_model("demo", home)


@pytest.fixture(scope="module")
def tokenizer(model_folder: Path) -> Any:
    return AutoTokenizer.from_pretrained(model_folder)


def test_weights_have_the_shapes_the_config_promises(model_folder: Path) -> None:
    weights = load_file(model_folder / "model.safetensors")
    config = json.loads((model_folder / "config.json").read_text())
    assert len(weights) == 2 + 9 * config["num_hidden_layers"]
    assert {tensor.dtype for tensor in weights.values()} == {torch.bfloat16}
    assert weights["model.embed_tokens.weight"].shape == (config["vocab_size"], config["hidden_size"]) == (49152, 576)
    assert weights["model.layers.29.self_attn.q_proj.weight"].shape == (9 * 64, 576)
    assert weights["model.layers.29.self_attn.k_proj.weight"].shape == (3 * 64, 576)
    assert weights["model.layers.29.mlp.down_proj.weight"].shape == (576, 1536)


def test_greedy_answer_is_the_model_s_own(model_folder: Path, tokenizer: Any) -> None:
    model: Any = AutoModelForCausalLM.from_pretrained(model_folder)
    question = [{"role": "user", "content": "What is the capital of France?"}]
    prompt = tokenizer.apply_chat_template(question, add_generation_prompt=True, return_tensors="pt", return_dict=True)
    output = model.generate(**prompt, max_new_tokens=20, do_sample=False)
    answer = tokenizer.decode(output[0, prompt["input_ids"].shape[1] :])
    assert answer == "The capital of France is Paris.<|im_end|>"


@pytest.mark.parametrize("text", ["plain words", "  spaces\n\n\tand tabs ", "Ünï 東京 🙂 12345", "a <|im_end|> inside"])
def test_text_survives_tokenising(tokenizer: Any, text: str) -> None:
    assert tokenizer.decode(tokenizer(text)["input_ids"]) == text


def test_digits_are_tokens_of_their_own(tokenizer: Any) -> None:
    assert tokenizer.convert_ids_to_tokens(tokenizer("x1984")["input_ids"]) == ["x", "1", "9", "8", "4"]


def test_chat_template_adds_the_default_system_prompt_only_when_none_is_given(tokenizer: Any) -> None:
    def rendered(*messages: dict[str, str]) -> Any:
        return tokenizer.apply_chat_template(list(messages), tokenize=False, add_generation_prompt=True)

    user, system = {"role": "user", "content": "Hi"}, {"role": "system", "content": "Be brief."}
    end = "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"
    named = "You are a helpful AI assistant named SmolLM, trained by Hugging Face"
    assert rendered(user) == f"<|im_start|>system\n{named}<|im_end|>\n{end}"
    assert rendered(system, user) == f"<|im_start|>system\nBe brief.<|im_end|>\n{end}"


def test_a_second_call_reuses_the_folder(home: Path, model_folder: Path) -> None:
    made_at = (model_folder / "model.safetensors").stat().st_mtime_ns
    assert resolve_model("demo", home) == model_folder
    assert (model_folder / "model.safetensors").stat().st_mtime_ns == made_at


def test_two_processes_at_once_leave_one_whole_folder(tmp_path: Path, model_folder: Path) -> None:
    command = [sys.executable, "-c", RESOLVE, str(tmp_path)]
    processes = [subprocess.Popen(command, cwd=ROOT) for _ in range(2)]
    assert [process.wait(timeout=120) for process in processes] == [0, 0]
    assert [path.name for path in (tmp_path / "models").iterdir() if path.is_dir()] == [model_folder.name]
    for file in model_folder.iterdir():
        assert (tmp_path / "models" / model_folder.name / file.name).read_bytes() == file.read_bytes()


def test_what_a_killed_process_left_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "models" / "all-MiniLM-L6-v2.partial").mkdir(parents=True)
    (tmp_path / "models" / "all-MiniLM-L6-v2.partial" / "half.safetensors").write_bytes(b"half")
    folder = resolve_embedding_model("demo", tmp_path)
    assert [path.name for path in (tmp_path / "models").iterdir() if path.is_dir()] == [folder.name]
    assert (folder / "model.safetensors").stat().st_size > 90_000_000
    assert not (folder / "half.safetensors").exists()


@pytest.mark.parametrize("resolve", [resolve_model, resolve_embedding_model])
def test_other_names_are_left_as_they_are(resolve: Callable[[str, Path], Path], tmp_path: Path) -> None:
    assert resolve(str(tmp_path), tmp_path / "home") == tmp_path
    assert str(resolve("some/model", tmp_path / "home")) == "some/model"
    assert not (tmp_path / "home").exists()
