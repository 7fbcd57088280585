"""Keys and salts keep apart what must not be shared."""

from typing import Any

import pytest

from memory.keys import blob_key, cache_salt

FACT: dict[str, Any] = {
    "tenant": "t",
    "owner": "o",
    "fingerprint": "f",
    "strategy": "neighbours(16)/1",
    "context_ids": [1, 2, 3],
    "segment_ids": [4, 5],
    "adapter": "",
}
SALT: dict[str, Any] = {"tenant": "t", "owner": "o", "kind": "inject", "strategy": "neighbours(16)/1", "epoch": 0}


def test_equal_inputs_have_equal_keys() -> None:
    assert blob_key(**FACT) == blob_key(**FACT)


@pytest.mark.parametrize(
    "change",
    [
        {"tenant": "u"},
        {"owner": "p"},
        {"fingerprint": "g"},
        {"strategy": "window(16)/1"},
        {"context_ids": [1, 2]},
        {"segment_ids": [4, 6]},
        {"adapter": "lora"},
        {"tenant": "t,o", "owner": ""},
        {"context_ids": [1, 2, 3, 4], "segment_ids": [5]},
    ],
    ids=str,
)
def test_any_difference_makes_another_key(change: dict[str, Any]) -> None:
    assert blob_key(**{**FACT, **change}) != blob_key(**FACT)


@pytest.mark.parametrize("change", [{"tenant": "u"}, {"owner": "p"}, {"kind": "prompt"}, {"epoch": 1}], ids=str)
def test_any_difference_makes_another_salt(change: dict[str, Any]) -> None:
    assert cache_salt("secret", **{**SALT, **change}) != cache_salt("secret", **SALT)


def test_a_salt_cannot_be_made_without_the_secret() -> None:
    assert cache_salt("secret", **SALT) != cache_salt("guess", **SALT)
