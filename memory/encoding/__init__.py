"""What precedes a fact when it is encoded, and the request that encodes it."""

from memory.encoding.parse import Stages, parse_stages, parse_strategy, strategy_names, text_tail
from memory.encoding.plan import EncodingPlan, KeySpace, PlannedSegment, PromptTooLong, plan_encoding, plan_header
from memory.encoding.staleness import changed_shares
from memory.encoding.strategy import ContextStrategy, Nearest, Neighbours, Turns, Window

__all__ = [
    "ContextStrategy",
    "EncodingPlan",
    "KeySpace",
    "Nearest",
    "Neighbours",
    "PlannedSegment",
    "PromptTooLong",
    "Stages",
    "Turns",
    "Window",
    "changed_shares",
    "parse_stages",
    "parse_strategy",
    "plan_encoding",
    "plan_header",
    "strategy_names",
    "text_tail",
]
