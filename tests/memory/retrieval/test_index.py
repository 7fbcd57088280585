"""The index answers like a brute-force comparison, whatever was put in, replaced and taken out before."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from memory.retrieval import VectorIndex

Vectors = NDArray[np.float32]
Steps = list[tuple[str, list[int]]]
DIM = 8
IDS = st.integers(min_value=0, max_value=2**63 - 1) | st.integers(min_value=0, max_value=20)
STEPS = st.lists(st.tuples(st.sampled_from(["upsert", "remove"]), st.lists(IDS, max_size=12)), max_size=12)


def unit_vectors(count: int, seed: int) -> Vectors:
    vectors = np.random.default_rng(seed).normal(size=(count, DIM)).astype(np.float32)
    unit: Vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit


@given(steps=STEPS, allowed=st.none() | st.lists(IDS, max_size=20), seed=st.integers(0, 2**32 - 1))
def test_the_ranking_equals_brute_force(
    steps: list[tuple[str, list[int]]], allowed: list[int] | None, seed: int
) -> None:
    index, stored = VectorIndex(DIM), dict[int, Vectors]()
    for number, (step, ids) in enumerate(steps):
        if step == "upsert":
            vectors = unit_vectors(len(ids), seed + number)
            index.upsert(ids, vectors)
            stored.update(zip(ids, vectors, strict=True))
        else:
            index.remove(ids)
            stored = {id_: vector for id_, vector in stored.items() if id_ not in ids}
    query = unit_vectors(1, seed)[0]
    candidates = stored if allowed is None else stored.keys() & set(allowed)
    expected = sorted((float(stored[id_] @ query) for id_ in candidates), reverse=True)

    ranked, scores = index.rank(query, allowed)

    assert len(index) == len(stored)
    assert sorted(ranked.tolist()) == sorted(candidates)
    np.testing.assert_allclose(scores.tolist(), expected, atol=1e-5)
    np.testing.assert_allclose([stored[id_] @ query for id_ in ranked.tolist()], scores.tolist(), atol=1e-5)
    assert all(scores[:-1] >= scores[1:])


def test_an_upsert_replaces_the_vector() -> None:
    index, (first, second) = VectorIndex(DIM), np.eye(DIM, dtype=np.float32)[:2]
    index.upsert([7], first[None])
    index.upsert([7], second[None])
    ids, scores = index.rank(second)
    assert (ids.tolist(), scores.tolist()) == ([7], [1.0])


def test_of_equals_the_first_put_in_stands_first() -> None:
    index, (vector, other) = VectorIndex(DIM), np.eye(DIM, dtype=np.float32)[:2]
    index.upsert([9, 3, 7, 1], np.stack([vector, other, vector, vector]))
    assert index.rank(vector)[0].tolist() == [9, 7, 1, 3]


def test_nobody_allowed_finds_nothing() -> None:
    index = VectorIndex(DIM)
    index.upsert([1], unit_vectors(1, seed=1))
    assert len(index.rank(unit_vectors(1, seed=1)[0], allowed=[])[0]) == 0


def test_negative_ids_are_refused() -> None:
    index = VectorIndex(DIM)
    with pytest.raises(ValueError, match="got -1"):
        index.upsert([3, -1], unit_vectors(2, seed=1))
    assert len(index) == 0


def test_vectors_of_another_size_are_refused_and_change_nothing() -> None:
    index = VectorIndex(DIM)
    index.upsert([1], unit_vectors(1, seed=1))
    with pytest.raises(ValueError, match=r"\(1, 8\) expected, got \(1, 9\)"):
        index.upsert([1], np.zeros((1, DIM + 1), dtype=np.float32))
    with pytest.raises(ValueError, match=r"\(8,\) expected"):
        index.rank(np.zeros(DIM + 1, dtype=np.float32))
    assert index.rank(unit_vectors(1, seed=1)[0])[0].tolist() == [1]
