"""The workers' parts, put together from the settings."""

from django.conf import settings

from memory.models import served_name
from memory.store import BlobStore
from workers.blobs import Blobs
from workers.chat import ChatModel
from workers.encoder import Encoder
from workers.engine import EngineClient
from workers.extractor import SECOND_TEMPERATURE, Extractor
from workers.local import local_encoder
from workers.model import encoding_model


def blob_store() -> BlobStore:
    return BlobStore(settings.ENV.store_path)


def blobs() -> Blobs:
    env = settings.ENV
    name = served_name(env.model, env.home)
    return Blobs(blob_store(), EngineClient(env.engine_base_url, settings.ENGINE_SERVICE_KEY, name))


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


def extractor(*, again: bool = False) -> Extractor:
    """`again`: the likeliest answer has been of no use."""
    model = chat_model()
    special_tokens = encoding_model().template.special_tokens if model.is_engine else ()
    return Extractor(model, special_tokens, SECOND_TEMPERATURE if again else 0.0)
