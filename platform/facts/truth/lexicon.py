"""Lists of words, written as text."""


def word_list(text: str) -> tuple[str, ...]:
    return tuple(text.split())
