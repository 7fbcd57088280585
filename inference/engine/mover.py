"""Between the near arena and the paged cache, through torch and each backend's own writer: works everywhere."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import torch

from inference.engine.metadata import EncodePlan, InjectPlan
from inference.engine.paged import PagedCache
from inference.engine.turning import turn_by
from memory.rope import Rotation
from memory.tiers.arena import Arena
from memory.tiers.books import Rows


class Mover(Protocol):
    def inject(self, plans: Sequence[InjectPlan]) -> None:
        """Write arena rows into the paged cache, keys turned to their new positions."""

    def read(self, plans: Sequence[EncodePlan]) -> torch.Tensor:
        """Stored rows of all the plans' tokens, one plan after the other, on the cache's device."""


class GeneralMover:
    """The reference that other movers are held to."""

    def __init__(self, cache: PagedCache, arena: Arena, rotation: Rotation) -> None:
        self.cache, self.arena, self.rotation = cache, arena, rotation

    def inject(self, plans: Sequence[InjectPlan]) -> None:
        for plan in plans:
            numbers = row_numbers(plan.rows, self.cache.device)
            turn = turn_by(self.rotation, torch.from_numpy(plan.moved), self.cache.device)
            layers = (self.arena.layer(numbers, layer) for layer in range(len(self.cache.layers)))
            self.cache.write(((turn(key), value) for key, value in layers), plan.start, plan.block_ids)

    def read(self, plans: Sequence[EncodePlan]) -> torch.Tensor:
        layout = self.arena.layout
        return torch.cat([layout.pack(self.cache.read(p.start, p.end, p.block_ids)) for p in plans])


def row_numbers(rows: Rows, device: torch.device) -> torch.Tensor:
    """As torch's indexing takes them: int64."""
    return torch.from_numpy(rows.astype(np.int64)).to(device)
