"""Bodies and query parameters, checked before any service sees them."""

from api.inputs.batch import BatchDeleteInput, BatchUpdateInput
from api.inputs.changes import AddInput, OlderAddInput, UpdateInput
from api.inputs.feedback import FeedbackInput
from api.inputs.older import ListQuery, OlderListInput, OlderSearchInput
from api.inputs.project import MemberEmailInput, MemberInput, ProjectUpdateInput
from api.inputs.queries import ListInput, SearchInput, SummaryInput
from api.inputs.scoped import DeleteManyInput, check_metadata_names

__all__ = [
    "AddInput",
    "BatchDeleteInput",
    "BatchUpdateInput",
    "DeleteManyInput",
    "FeedbackInput",
    "ListInput",
    "ListQuery",
    "MemberEmailInput",
    "MemberInput",
    "OlderAddInput",
    "OlderListInput",
    "OlderSearchInput",
    "ProjectUpdateInput",
    "SearchInput",
    "SummaryInput",
    "UpdateInput",
    "check_metadata_names",
]
