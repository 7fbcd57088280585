"""Bodies and query parameters, checked before any service sees them."""

from api.inputs.changes import AddInput, UpdateInput
from api.inputs.queries import ListInput, SearchInput
from api.inputs.scoped import DeleteManyInput, check_metadata_names

__all__ = ["AddInput", "DeleteManyInput", "ListInput", "SearchInput", "UpdateInput", "check_metadata_names"]
