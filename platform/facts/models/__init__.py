"""Memory: owners, their conversation turns, facts, and the facts' encodings."""

from facts.models.encoding import GRACE, KEPT, Encoding, EncodingState
from facts.models.event import Event, EventStatus
from facts.models.extraction import Extraction
from facts.models.fact import Fact, FactHistory, FactStatus
from facts.models.feedback import Feedback, Verdict
from facts.models.owner import Owner, OwnerKind, Turn
from facts.models.profile import Profile, ProfileStatus
from facts.models.summary import Summary
from facts.models.vector import ComingVector

__all__ = [
    "GRACE",
    "KEPT",
    "ComingVector",
    "Encoding",
    "EncodingState",
    "Event",
    "EventStatus",
    "Extraction",
    "Fact",
    "FactHistory",
    "FactStatus",
    "Feedback",
    "Owner",
    "OwnerKind",
    "Profile",
    "ProfileStatus",
    "Summary",
    "Turn",
    "Verdict",
]
