"""What precedes a fact when it is encoded, and the request that encodes it."""

from memory.encoding.parse import parse_strategy, strategy_name, text_tail
from memory.encoding.plan import EncodingPlan, KeySpace, PlannedSegment, PromptTooLong, plan_encoding, plan_header
from memory.encoding.strategy import ContextStrategy, Nearest, Neighbours, Turns, Window

__all__ = [
    "ContextStrategy",
    "EncodingPlan",
    "KeySpace",
    "Nearest",
    "Neighbours",
    "PlannedSegment",
    "PromptTooLong",
    "Turns",
    "Window",
    "parse_strategy",
    "plan_encoding",
    "plan_header",
    "strategy_name",
    "text_tail",
]
