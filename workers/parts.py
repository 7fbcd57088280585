"""The workers' parts, put together from the settings."""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from django.conf import settings

from memory.models import served_name
from memory.store import BlobStore, open_store
from workers.blobs import Blobs
from workers.chat import ChatModel
from workers.encoder import Encoder
from workers.engine import EngineClient
from workers.engines import Engines
from workers.extractor import SECOND_TEMPERATURE, Extractor
from workers.local import local_encoder
from workers.model import encoding_model
from workers.summarizer import Summarizer


def blob_store() -> BlobStore:
    return _store(settings.ENV.store_path, settings.ENV.store_url)


@lru_cache
def _store(folder: Path, url: str) -> BlobStore:
    """One a process: it keeps its connections. Without copies, for workers only look whether blobs are whole."""
    return open_store(folder, url)


def blobs() -> Blobs:
    env = settings.ENV
    name = served_name(env.model, env.home)
    front = EngineClient(env.engine_base_url, settings.ENGINE_SERVICE_KEY, name)
    return Blobs(blob_store(), Engines(front, env.engine_replica_urls))


def encoder() -> Encoder:
    parts = blobs()
    return Encoder(encoding_model(), parts, local_encoder() if settings.ENV.encoder == "local" else parts.engine)


def chat_model() -> ChatModel:
    """The one that is configured, else the engine's."""
    env = settings.ENV
    if env.extractor_url:
        return ChatModel(env.extractor_url, env.extractor_key, env.extractor_model, is_engine=False)
    name = served_name(env.model, env.home)
    return ChatModel(f"{env.engine_base_url}/v1", settings.ENGINE_SERVICE_KEY, name, is_engine=True)


def summarizer(*, again: bool = False) -> Summarizer:
    """`again`: the likeliest answer has been of no use."""
    model = chat_model()
    return Summarizer(model, _special_tokens(model), SECOND_TEMPERATURE if again else 0.0)


def extractor(*, again: bool = False) -> Extractor:
    """`again`: the likeliest answer has been of no use."""
    model = chat_model()
    return Extractor(model, _special_tokens(model), SECOND_TEMPERATURE if again else 0.0)


def _special_tokens(model: ChatModel) -> Sequence[str]:
    return encoding_model().template.special_tokens if model.is_engine else ()
