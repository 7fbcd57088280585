"""Pages of `{count, next, previous, results}`; a bad page size is an error, not a silent default."""

from typing import Any

from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.pagination import PageNumberPagination
from rest_framework.request import Request

MAX_PAGE_SIZE = 200


class Pages(PageNumberPagination):
    page_size = 100
    page_size_query_param = "page_size"
    max_page_size = MAX_PAGE_SIZE

    def get_page_size(self, request: Request) -> int:
        return self._positive(request, "page_size", default=100, most=MAX_PAGE_SIZE)

    def get_page_number(self, request: Request, paginator: Any) -> int:
        number = self._positive(request, "page", default=1)
        if number > paginator.num_pages:
            raise NotFound(f"There is no page {number}; the last page is {paginator.num_pages}.")
        return number

    def _positive(self, request: Request, name: str, default: int, most: int | None = None) -> int:
        raw = request.query_params.get(name)
        if raw is None:
            return default
        # 18 digits fit every integer the database knows
        if not (raw.isascii() and raw.isdigit() and len(raw) <= 18 and int(raw) > 0 and (not most or int(raw) <= most)):
            limit = f" of at most {most}" if most else ""
            raise ValidationError({name: [f"Must be a whole number{limit}, 1 or more."]})
        return int(raw)
