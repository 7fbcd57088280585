"""The model that facts are encoded for, loaded once a process at the first need."""

from dataclasses import dataclass
from functools import lru_cache

from django.conf import settings
from transformers import AutoConfig, AutoTokenizer

from memory.fingerprint import encoding_fingerprint, model_fingerprint
from memory.models import resolve_model, served_name
from memory.prompt import ChatTemplate

UNLIMITED = 1 << 20


@dataclass(frozen=True, slots=True)
class EncodingModel:
    """`blob_fingerprint` stands in blobs and their keys, `fingerprint` in encodings; `max_tokens` is by its config."""

    name: str
    blob_fingerprint: str
    fingerprint: str
    template: ChatTemplate
    max_tokens: int


@lru_cache(maxsize=1)
def encoding_model() -> EncodingModel:
    """Raises TemplateUnsupported, OSError."""
    env = settings.ENV
    folder = str(resolve_model(env.model, env.home))
    template = ChatTemplate(AutoTokenizer.from_pretrained(folder))
    blob_fingerprint = model_fingerprint(folder, env.kv_cache_dtype)
    return EncodingModel(
        name=served_name(env.model, env.home),
        blob_fingerprint=blob_fingerprint,
        fingerprint=encoding_fingerprint(blob_fingerprint, template.header),
        template=template,
        max_tokens=getattr(AutoConfig.from_pretrained(folder).get_text_config(), "max_position_embeddings", UNLIMITED),
    )
