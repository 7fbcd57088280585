"""Wrong combinations of settings, found by `manage.py check` and before every command that uses the database."""

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning, register

from config.env import Environment, unknown_variables, variable
from config.services.folders import foreign_owner
from config.services.identity import service_identity

LOOPBACK = ("127.", "localhost", "[::1]", "::1")
Check = Callable[[Environment], Iterable[CheckMessage]]


def folders_are_writable(env: Environment) -> Iterable[CheckMessage]:
    for number, field, folder in (("E001", "home", env.home), ("E002", "store", env.store_path)):
        problem = _why_not_writable(folder)
        if problem:
            yield Error(f"{variable(field)}: {folder} cannot be written: {problem}", id=f"inferscale.{number}")


def socket_folder_is_ours(env: Environment) -> Iterable[CheckMessage]:
    if not (env.embeds_postgres or env.embeds_redis):
        return
    owner = service_identity(env.home / "postgres").uid if env.socket_folder.exists() else 0
    problem = foreign_owner(env.socket_folder, (0, owner))
    if problem:
        hint = f"Run as that user, or choose another {variable('home')}."
        yield Error(f"Sockets of the embedded servers: {problem}", hint=hint, id="inferscale.E003")


def ports_differ(env: Environment) -> Iterable[CheckMessage]:
    if env.web_port == env.engine_port and not env.engine_url:
        names = f"{variable('web_port')} and {variable('engine_port')}"
        yield Error(f"{names} are both {env.web_port}; give them different ports", id="inferscale.E004")


def debug_names_its_hosts(env: Environment) -> Iterable[CheckMessage]:
    if env.debug and "*" in env.allowed_hosts:
        message = f"{variable('debug')} shows settings and source to anybody when {variable('allowed_hosts')} is *"
        yield Error(message, hint=f"Set {variable('allowed_hosts')}=localhost,127.0.0.1", id="inferscale.E005")


def model_folders_exist(env: Environment) -> Iterable[CheckMessage]:
    for field in ("model", "embedding_model"):
        folder = Path(getattr(env, field)).expanduser()
        if _is_path(str(getattr(env, field))) and not (folder / "config.json").is_file():
            yield Error(f"{variable(field)}: {folder} has no config.json", id="inferscale.E006")


def variables_are_known(env: Environment) -> Iterable[CheckMessage]:
    for name, meant in unknown_variables(os.environ).items():
        hint = f"Did you mean {meant}?" if meant else None
        yield Warning(f"{name} is not a variable of this version and has no effect", hint=hint, id="inferscale.W001")


def machines_share_the_secret(env: Environment) -> Iterable[CheckMessage]:
    if env.engine_url and not env.secret_key and not _is_local(env.engine_base_url):
        message = (
            f"{variable('engine_url')} is another machine's, and {variable('secret_key')} is this data folder's own"
        )
        hint = f"Give all processes the same {variable('secret_key')}, or the engine refuses the worker's key."
        yield Warning(message, hint=hint, id="inferscale.W002")


def blobs_fit_in_memory(env: Environment) -> Iterable[CheckMessage]:
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if env.host_kv_bytes > total:
        message = (
            f"{variable('host_kv_bytes')} is {env.host_kv_bytes}, more than this machine's memory of {total} bytes"
        )
        yield Warning(message, id="inferscale.W003")


def extractor_is_named_whole(env: Environment) -> Iterable[CheckMessage]:
    instead = "none to have the engine find facts"
    yield from _api_is_named_whole(env, "extractor", instead=instead, keyless=": the engine needs none", id="E007")


def reranker_is_named_whole(env: Environment) -> Iterable[CheckMessage]:
    yield from _api_is_named_whole(env, "rerank", instead="none for no reranker", keyless="", id="E008")


CHECKS: tuple[Check, ...] = (
    folders_are_writable,
    socket_folder_is_ours,
    ports_differ,
    debug_names_its_hosts,
    model_folders_exist,
    extractor_is_named_whole,
    reranker_is_named_whole,
    variables_are_known,
    machines_share_the_secret,
    blobs_fit_in_memory,
)


@register
def check_settings(**_: Any) -> list[CheckMessage]:
    return [message for check in CHECKS for message in check(settings.ENV)]


def _api_is_named_whole(env: Environment, api: str, *, instead: str, keyless: str, id: str) -> Iterable[CheckMessage]:
    """URL and model of an API of others go together, and a key goes with them."""
    names = f"{variable(f'{api}_url')} and {variable(f'{api}_model')}"
    url, model, key = (getattr(env, f"{api}_{part}") for part in ("url", "model", "key"))
    if bool(url) != bool(model):
        yield Error(f"{names} go together: set both, or {instead}", id=f"inferscale.{id}")
    elif key and not url:
        hint = f"Set {names}, or take the key away{keyless}."
        yield Error(f"{variable(f'{api}_key')} is the key of no API", hint=hint, id=f"inferscale.{id}")


def _why_not_writable(folder: Path) -> str:
    """Tried for real: modes say little on network and read-only file systems. The folder itself is made when used."""
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    try:
        with NamedTemporaryFile(dir=existing, prefix=".writable-"):
            return ""
    except OSError as error:
        return error.strerror or str(error)


def _is_path(name: str) -> bool:
    return name.startswith(("/", "./", "../", "~"))


def _is_local(url: str) -> bool:
    return url.split("://", 1)[-1].startswith(LOOPBACK)
