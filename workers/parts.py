"""The workers' parts, put together from the settings."""

from django.conf import settings

from memory.models import served_name
from memory.store import BlobStore
from workers.blobs import Blobs
from workers.encoder import Encoder
from workers.engine import EngineClient
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
