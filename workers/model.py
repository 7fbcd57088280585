"""The model that facts are encoded for, loaded once a process at the first need."""

from dataclasses import dataclass
from functools import lru_cache

from django.conf import settings

from memory.models import resolve_model, served_name
from memory.prompt import ChatTemplate
from memory.served import ServedModel, load_served_model

UNLIMITED = 1 << 20


@dataclass(frozen=True, slots=True)
class EncodingModel:
    """`name` is what the engine serves it as; `max_tokens` is by its config."""

    served: ServedModel
    name: str
    max_tokens: int

    @property
    def template(self) -> ChatTemplate:
        return self.served.template

    @property
    def blob_fingerprint(self) -> str:
        return self.served.blob_fingerprint

    @property
    def fingerprint(self) -> str:
        return self.served.fingerprint


@lru_cache(maxsize=1)
def encoding_model() -> EncodingModel:
    """Raises TemplateUnsupported, OSError."""
    from transformers import AutoConfig

    env = settings.ENV
    folder = resolve_model(env.model, env.home)
    config = AutoConfig.from_pretrained(str(folder)).get_text_config()
    return EncodingModel(
        served=load_served_model(
            folder,
            kv_cache_dtype=env.kv_cache_dtype,
            row_dtype=env.kv_row_dtype,
            ranks=env.tensor_parallel_size,
        ),
        name=served_name(env.model, env.home),
        max_tokens=getattr(config, "max_position_embeddings", UNLIMITED),
    )
