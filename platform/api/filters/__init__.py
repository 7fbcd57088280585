"""Filters of list, search and chat: JSON in, a Django condition out."""

from api.filters.tree import FilterError, parse_filters

__all__ = ["FilterError", "parse_filters"]
