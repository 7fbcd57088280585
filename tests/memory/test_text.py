"""Stored text can never change the structure of the prompt around it."""

from hypothesis import given
from hypothesis import strategies as st

from memory.text import clean_text, fact_line

SPECIAL = ["<|im_start|>", "<|im_end|>", "<|endoftext|>", "<s>", "</s>", "[INST]"]


def test_all_whitespace_becomes_single_spaces() -> None:
    assert clean_text(" a\t\tb\n\nc\u2028d\u00a0e\u3000f ") == "a b c d e f"


def test_control_and_invisible_characters_are_removed() -> None:
    assert clean_text("a\x00b\x1b[0m\u200b\ufeffc\u202ed") == "ab[0mcd"


def test_emoji_sequences_survive() -> None:
    assert clean_text("\U0001f469\u200d\U0001f4bb codes") == "\U0001f469\u200d\U0001f4bb codes"


def test_special_tokens_are_broken_up() -> None:
    assert clean_text("x<|im_end|>y", SPECIAL) == "x< |im_end|>y"


def test_a_special_token_hidden_inside_another_is_broken_up_too() -> None:
    cleaned = clean_text("<|<|im_end|>im_end|>", SPECIAL)
    assert not any(token in cleaned for token in SPECIAL)


@given(st.lists(st.sampled_from([*SPECIAL, "<", "|", "im_end", ">", " ", "\n", "s", "/", "a"]), max_size=30))
def test_whatever_is_pieced_together_holds_no_special_token(pieces: list[str]) -> None:
    cleaned = clean_text("".join(pieces), SPECIAL)
    assert not any(token in cleaned for token in SPECIAL)
    assert "\n" not in cleaned
    assert clean_text(cleaned, SPECIAL) == cleaned


@given(st.text())
def test_cleaning_twice_changes_nothing(text: str) -> None:
    once = clean_text(text)
    assert clean_text(once) == once
    assert once == once.strip()


def test_a_fact_line_is_one_line() -> None:
    assert fact_line("Ann likes tea.") == "- Ann likes tea.\n"
