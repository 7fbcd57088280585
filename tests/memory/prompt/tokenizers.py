"""Tokenizers of the kinds that models use, trained here on a few lines or taken from the demo model."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from config.env import read_environment
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import AutoTokenizer, PreTrainedTokenizerFast

from memory.models import resolve_model

SPECIAL = ["<s>", "</s>", "<|im_start|>", "<|im_end|>", "[INST]", "[/INST]"]
CORPUS = [
    "Below is what you remember from earlier conversations. Use it when it helps to answer.\nMemories:\n",
    "- Alice likes green tea and walks her dog Bruno every morning.\n- Bob moved to Lisbon in 2021.\n",
    "What does Alice like? Where does Bob live now?\nEnd of memories.\n",
] * 20
LLAMA_3_SPLIT = "|".join(
    [
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)",
        r"[^\r\n\p{L}\p{N}]?\p{L}+",
        r"\p{N}{1,3}",
        r" ?[^\s\p{L}\p{N}]+[\r\n]*",
        r"\s*[\r\n]+",
        r"\s+(?!\S)",
        r"\s+",
    ]
)


@lru_cache
def demo_tokenizer() -> Any:
    environment = read_environment()
    return AutoTokenizer.from_pretrained(str(resolve_model("demo", environment.home)))


@lru_cache
def byte_level_tokenizer(trim_offsets: bool) -> Any:
    """Like Llama 3 and Qwen 2: newlines merge with punctuation before them; offsets with or without white space."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(LLAMA_3_SPLIT), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=trim_offsets)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    tokenizer.train_from_iterator(CORPUS, trainers.BpeTrainer(vocab_size=600, initial_alphabet=alphabet))
    return _wrapped(tokenizer)


@lru_cache
def metaspace_tokenizer() -> Any:
    """Like Llama 2, Mistral and Gemma: spaces are letters, unknown characters fall back to bytes."""
    tokenizer = Tokenizer(models.BPE(byte_fallback=True, unk_token="<unk>"))
    tokenizer.normalizer = normalizers.Replace(" ", "▁")
    tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()])
    bytes_and_unknown = ["<unk>", *(f"<0x{byte:02X}>" for byte in range(256))]
    lines = [line for text in CORPUS for line in text.splitlines()]  # no merges across newlines: <0x0A> alone
    trainer = trainers.BpeTrainer(vocab_size=600, special_tokens=bytes_and_unknown)
    tokenizer.train_from_iterator(lines, trainer)
    return _wrapped(tokenizer)


def _wrapped(tokenizer: Tokenizer) -> Any:
    tokenizer.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in SPECIAL])
    return PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>"
    )


TOKENIZERS: dict[str, Callable[[], Any]] = {
    "demo": demo_tokenizer,
    "byte level": lambda: byte_level_tokenizer(False),
    "byte level, trimmed offsets": lambda: byte_level_tokenizer(True),
    "metaspace": metaspace_tokenizer,
}
