"""Stored facts that a new one may repeat, refine or contradict."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from django.db.models import Q
from numpy.typing import NDArray

from facts.embedding import embedding_model, vector_of
from facts.models import Fact, FactStatus, Owner
from facts.scopes import Scopes
from facts.selectors.facts import not_expired

NEAREST = 50

Vector = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Rival:
    """`cosine`: of its vector and the new fact's; None where one of them has none."""

    fact: Fact
    cosine: float | None


def rivals_of(
    *, owner: Owner, scopes: Scopes, hashes: Sequence[str], vectors: Sequence[bytes | None]
) -> list[list[Rival]]:
    """For each new fact the ones of the very same scopes that hold now, the nearest first.

    At most NEAREST with a vector, and as many of those without, the newest.
    """
    holding = Fact.objects.filter(not_expired(), owner=owner, status=FactStatus.ACTIVE, **exactly(scopes))
    comparable = Q(embedding__isnull=False, embedding_model=embedding_model())
    pairs = [
        (pk, vector_of(stored)) for pk, stored in holding.filter(comparable).values_list("pk", "embedding") if stored
    ]
    others = list(holding.exclude(comparable).order_by("-created_at").values_list("pk", flat=True)[:NEAREST])
    twins = dict(holding.filter(hash__in=hashes).values_list("hash", "pk"))
    ids, matrix = [pk for pk, _ in pairs], np.stack([row for _, row in pairs]) if pairs else None
    chosen = [_nearest(ids, matrix, None if vector is None else vector_of(vector)) for vector in vectors]
    wanted = {pk for found in chosen for pk, _ in found} | set(others) | set(twins.values())
    facts = holding.defer("words", "embedding").in_bulk(list(wanted))

    def of(found: list[tuple[object, float | None]], twin: object) -> list[Rival]:
        known = {pk for pk, _ in found}
        rest = [pk for pk in (twin, *others) if pk is not None and pk not in known]
        return [Rival(facts[pk], cosine) for pk, cosine in [*found, *((pk, None) for pk in rest)] if pk in facts]

    return [of(found, twins.get(name)) for found, name in zip(chosen, hashes, strict=True)]


def exactly(scopes: Scopes) -> dict[str, str]:
    """A filter for these scopes and no further ones."""
    return {
        "user_id": scopes.user_id,
        "agent_id": scopes.agent_id,
        "app_id": scopes.app_id,
        "run_id": scopes.run_id,
    }


def _nearest(ids: Sequence[object], matrix: Vector | None, vector: Vector | None) -> list[tuple[object, float | None]]:
    if matrix is None:
        return []
    if vector is None or vector.shape[0] != matrix.shape[1]:
        return [(pk, None) for pk in ids[-NEAREST:]]
    cosines = matrix @ vector
    order = np.argsort(-cosines, kind="stable")[:NEAREST]
    return [(ids[position], float(cosines[position])) for position in order]
