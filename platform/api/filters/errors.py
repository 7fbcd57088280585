"""The one error of the filter language."""


class FilterError(ValueError):
    """Says where in the filter and what to change."""
