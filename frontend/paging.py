"""Pages of long lists: nobody turns two hundred pages, and counting a million rows takes longer than showing fifty."""

from typing import Any

from django.core.paginator import Paginator
from django.utils.functional import cached_property

PAGE_SIZE = 50
MOST = 10_000


class CappedPaginator(Paginator):  # type: ignore[type-arg]  # takes none at runtime
    """Counts to MOST and ends there; `is_capped` says that there may be more."""

    @cached_property
    def count(self) -> int:
        rows: Any = self.object_list
        return int(rows[:MOST].count())

    @property
    def is_capped(self) -> bool:
        return self.count == MOST
