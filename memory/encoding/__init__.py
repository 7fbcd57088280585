"""What precedes a fact when it is encoded, and the request that encodes it."""

from memory.encoding.parse import parse_strategy, strategy_name
from memory.encoding.plan import EncodingPlan, KeySpace, PlannedSegment, PromptTooLong, plan_encoding, plan_header
from memory.encoding.strategy import ContextStrategy, Neighbours, Window

__all__ = [
    "ContextStrategy",
    "EncodingPlan",
    "KeySpace",
    "Neighbours",
    "PlannedSegment",
    "PromptTooLong",
    "Window",
    "parse_strategy",
    "plan_encoding",
    "plan_header",
    "strategy_name",
]
