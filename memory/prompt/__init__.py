"""The prompt and its segments: where memory stands, what its text is, which tokens are which."""

from memory.prompt.block import CLOSING_LINE, MEMORY_HEADER
from memory.prompt.compose import (
    ComposedPrompt,
    EncodePrompt,
    compose_prompt,
    encode_prompt,
    header_prompt,
)
from memory.prompt.pieces import Piece, PieceKind
from memory.prompt.template import ChatTemplate, TemplateUnsupported
from memory.prompt.tokens import TokenSpan

__all__ = [
    "CLOSING_LINE",
    "MEMORY_HEADER",
    "ChatTemplate",
    "ComposedPrompt",
    "EncodePrompt",
    "Piece",
    "PieceKind",
    "TemplateUnsupported",
    "TokenSpan",
    "compose_prompt",
    "encode_prompt",
    "header_prompt",
]
