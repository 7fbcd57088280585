"""How much of a context would be new, against a comparison of each with each."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from memory.encoding import Nearest, changed_shares


@given(facts=st.integers(1, 30), n=st.integers(0, 8), seed=st.integers(0, 2**32 - 1))
def test_shares_are_of_the_facts_that_the_strategy_would_choose(facts: int, n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(facts, 5)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    rows = sorted(rng.choice(facts, size=min(facts, 4), replace=False).tolist())
    contexts = [set(rng.choice(facts, size=min(facts, n), replace=False).tolist()) for _ in rows]
    shares = changed_shares(vectors, rows, contexts, n=n)
    for row, context, share in zip(rows, contexts, shares, strict=True):
        others = [i for i in range(facts) if i != row]
        chosen = {others[i] for i in Nearest(n).choose(vectors[row], [vectors[i] for i in others])}
        assert share == (len(chosen - context) / n if n else 0)


def test_nothing_is_new_without_facts() -> None:
    assert changed_shares(np.empty((0, 5), dtype=np.float32), [], [], n=4).tolist() == []
