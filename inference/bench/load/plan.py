"""What load is to be made; crosses the process boundary."""

from dataclasses import dataclass, replace

from inference.bench.chat import Mode


@dataclass(frozen=True)
class LoadPlan:
    """Without a rate the loop is closed: each user asks again once answered. With one it is open: requests arrive at
    random (Poisson) at `rate` a second, whoever is still waiting, each from one of the users.

    `order`: of the facts in the prompt, relevance or random.
    """

    url: str
    api_key: str
    model: str
    users: tuple[str, ...]
    mode: Mode
    top_k: int
    max_tokens: int
    rate: float | None = None
    order: str = "random"
    seed: str = ""

    def share(self, index: int, processes: int) -> "LoadPlan":
        """What process number `index` does of it."""
        return replace(
            self,
            users=self.users[index::processes],
            rate=None if self.rate is None else self.rate / processes,
            seed=f"{self.seed}/{index}",
        )

    def processes(self, most: int) -> int:
        """As many as there are users for, at most `most`."""
        return max(1, min(most, len(self.users)))
