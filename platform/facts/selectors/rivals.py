"""Stored facts that a new one may repeat, refine or contradict."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

import numpy as np
from django.db.models import Q, QuerySet
from numpy.typing import NDArray

from facts.embedding import vector_of
from facts.models import Fact, FactStatus, Owner, OwnerKind
from facts.scopes import Scopes
from facts.selectors.facts import not_expired
from facts.text import text_hash
from facts.truth import claim_key

NEAREST = 50

Vector = NDArray[np.float32]
Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Rival:
    """`cosine`: of its vector and the new fact's; None where one of them has none."""

    fact: Fact
    cosine: float | None


def rivals_of(
    *, owner: Owner, scopes: Scopes, texts: Sequence[str], vectors: Sequence[bytes | None], embedding_model: str
) -> list[list[Rival]]:
    """For each new fact the ones about the same that hold now, the nearest first: of the very same scopes, and of the
    owner's other runs, unless a run is the owner.

    At most NEAREST with a vector and as many of those without, the newest; whatever their number, those of the same
    text and those that give the same attribute a value. `vectors` are by `embedding_model`.
    """
    holding = Fact.objects.filter(not_expired(), owner=owner, status=FactStatus.ACTIVE, **_in_any_run(scopes))
    comparable = Q(embedding__isnull=False, embedding_model=embedding_model)
    stored = holding.filter(comparable).order_by("created_at").values_list("pk", "embedding")
    pairs = {pk: vector_of(vector) for pk, vector in stored if vector is not None}
    ids, matrix = list(pairs), np.stack(list(pairs.values())) if pairs else None
    others = list(holding.exclude(comparable).order_by("-created_at").values_list("pk", flat=True)[:NEAREST])
    keys = [(text_hash(text), claim_key(text)) for text in texts]
    alike = _alike(holding, keys)
    chosen = []
    for key, given in zip(keys, vectors, strict=True):
        vector = None if given is None else vector_of(given)
        known = dict.fromkeys([*_nearest(ids, matrix, vector), *alike[key], *others])
        chosen.append({pk: _cosine(pairs.get(pk), vector) for pk in known})
    facts = holding.defer("words", "embedding").in_bulk(list({pk for known in chosen for pk in known}))
    return [[Rival(facts[pk], cosine) for pk, cosine in known.items() if pk in facts] for known in chosen]


def _alike(holding: QuerySet[Fact], keys: Sequence[Key]) -> dict[Key, list[UUID]]:
    """For each text's hash and claim those facts that have one of them."""
    same = Q(hash__in=[name for name, _ in keys]) | Q(claim_key__in=[claim for _, claim in keys if claim])
    rows = list(holding.filter(same).values_list("pk", "hash", "claim_key"))
    return {
        key: [pk for pk, name, claim in rows if name == key[0] or (claim and claim == key[1])]
        for key in dict.fromkeys(keys)
    }


def exactly(scopes: Scopes) -> dict[str, str]:
    """A filter for these scopes and no further ones."""
    return {
        "user_id": scopes.user_id,
        "agent_id": scopes.agent_id,
        "app_id": scopes.app_id,
        "run_id": scopes.run_id,
    }


def _in_any_run(scopes: Scopes) -> dict[str, str]:
    """A run beside another name says where a fact was found, a run alone whose it is."""
    given = exactly(scopes)
    return given if scopes.owner_kind == OwnerKind.RUN else {name: given[name] for name in given if name != "run_id"}


def _nearest(ids: Sequence[UUID], matrix: Vector | None, vector: Vector | None) -> Sequence[UUID]:
    if matrix is None:
        return ()
    if vector is None or vector.shape[0] != matrix.shape[1]:
        return ids[-NEAREST:]
    return [ids[position] for position in np.argsort(-(matrix @ vector), kind="stable")[:NEAREST]]


def _cosine(one: Vector | None, other: Vector | None) -> float | None:
    return float(one @ other) if one is not None and other is not None and one.shape == other.shape else None
