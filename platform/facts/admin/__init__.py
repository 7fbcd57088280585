"""Admin of memory: facts can be changed, through the services; all else only be read."""

from facts.admin.facts import FactAdmin, FactHistoryAdmin
from facts.admin.records import EncodingAdmin, EventAdmin, OwnerAdmin, TurnAdmin

__all__ = ["EncodingAdmin", "EventAdmin", "FactAdmin", "FactHistoryAdmin", "OwnerAdmin", "TurnAdmin"]
