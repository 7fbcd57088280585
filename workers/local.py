"""Encodes with a vLLM of the worker's own, on a device that nothing else uses."""

import logging
import shlex
from collections.abc import Callable, Sequence
from functools import lru_cache
from threading import Lock
from typing import TYPE_CHECKING

from django.conf import settings

from memory.contracts import EncodeParams
from memory.models import resolve_model
from workers.model import encoding_model
from workers.port import EngineBroke, EngineDown, EngineRefused

if TYPE_CHECKING:
    from inference.engine.local import LocalEngine

logger = logging.getLogger(__name__)


class LocalEncoder:
    """An EncodePort. `start` brings up an engine that passed its golden check; once it died another one is started."""

    def __init__(self, start: "Callable[[], LocalEngine]") -> None:
        self._start, self._lock = start, Lock()
        self._engine: LocalEngine | None = None

    def max_model_len(self) -> int:
        return self._running().max_model_len

    def encode(
        self, token_ids: Sequence[int], params: EncodeParams, *, cache_salt: str, affinity: str
    ) -> frozenset[str]:
        from inference.engine.local import LocalEngineDied, LocalEngineRefused

        engine = self._running()
        try:
            return engine.complete(token_ids, params, cache_salt=cache_salt).accepted
        except LocalEngineRefused as error:
            raise EngineRefused(str(error)) from error
        except LocalEngineDied as error:
            self._discard(engine)
            raise EngineBroke(f"the local engine died: {error}") from error
        except Exception as error:  # vLLM's own, whichever
            raise EngineBroke(f"the local engine failed: {error!r}") from error

    def start(self) -> None:
        """Raises EngineDown."""
        self._running()

    def stop(self) -> None:
        with self._lock:
            engine, self._engine = self._engine, None
        if engine is not None:
            engine.shutdown()

    def _running(self) -> "LocalEngine":
        with self._lock:
            if self._engine is None:
                try:
                    self._engine = self._start()
                except Exception as error:
                    logger.exception("the local engine does not start")
                    raise EngineDown(f"the local engine does not start: {error}") from error
            return self._engine

    def _discard(self, engine: "LocalEngine") -> None:
        with self._lock:
            if self._engine is engine:
                self._engine = None
        engine.shutdown()


@lru_cache(maxsize=1)
def local_encoder() -> LocalEncoder:
    return LocalEncoder(start_engine)


def start_engine() -> "LocalEngine":
    """Raises GoldenMismatch, and whatever vLLM raises when it cannot start."""
    from inference.engine.local import LocalEngine, LocalSettings

    env, model = settings.ENV, encoding_model()
    engine = LocalEngine(
        LocalSettings(
            model=resolve_model(env.model, env.home),
            store=env.store_path,
            store_url=env.store_url,
            fingerprint=model.blob_fingerprint,
            kv_cache_dtype=env.kv_cache_dtype,
            row_dtype=env.kv_row_dtype,
            ranks=env.tensor_parallel_size,
            flags=tuple(shlex.split(env.encoder_flags)),
        )
    )
    try:
        engine.check(model.template)
    except BaseException:
        engine.shutdown()
        raise
    logger.info("the local engine passed its golden check and encodes")
    return engine
