"""What gateway and workers must agree on about the served model."""

from dataclasses import dataclass
from pathlib import Path

from memory.fingerprint import encoding_fingerprint, model_fingerprint
from memory.prompt import ChatTemplate
from memory.prompt.ids import quick_ids_of


@dataclass(frozen=True, slots=True)
class ServedModel:
    """`blob_fingerprint` stands in blobs and their keys; `fingerprint` in encodings, for it covers the header too."""

    template: ChatTemplate
    blob_fingerprint: str
    fingerprint: str


def load_served_model(
    folder: Path, *, kv_cache_dtype: str, row_dtype: str, ranks: int, chat_template: str | None = None
) -> ServedModel:
    """`ranks`: those of tensor parallelism. `chat_template`: a Jinja template in place of the model's own.

    Raises TemplateUnsupported, OSError.
    """
    from transformers import AutoTokenizer

    template = ChatTemplate(AutoTokenizer.from_pretrained(str(folder)), chat_template)
    blob_fingerprint = model_fingerprint(folder, kv_cache_dtype, row_dtype, ranks=ranks)
    return ServedModel(template, blob_fingerprint, encoding_fingerprint(blob_fingerprint, template.header))


def is_tokenized_by_fastokens(model: str | Path) -> bool:
    """Whether the model's tokenizer may be fastokens in transformers' place. Raises OSError."""
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(str(model))
    return bool(getattr(tokenizer, "is_fast", False)) and quick_ids_of(tokenizer) is not None
