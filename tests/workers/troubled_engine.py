"""A small HTTP server in the engine's place, for what a sound engine cannot be brought to do."""

import json
import socket
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from memory.contracts import LimitParams, MemoryLimit, MoveParams, PromoteParams, pack_keys, parse_params
from tests.quiet_http import QuietHandler
from workers.model import encoding_model

Body = dict[str, Any]
Reply = tuple[int, Body]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def accept_all(body: Body) -> Reply:
    spans = body["kv_transfer_params"].get("spans", [])
    return 200, {"choices": [], "kv_transfer_params": {"accepted": [span["key"] for span in spans]}}


class TroubledEngine:
    """`encode` answers encode requests, `drop` drop requests, `tier` the others; the bodies of each kind are kept.

    `traces` are the requests' `traceparent` headers.

    `near` are the keys in its memory, with their tenants: promoted and not moved down since. `held` is what it says, by
    tier, when it is asked for them. `page` is its /metrics.
    """

    def __init__(self) -> None:
        self.encode: Callable[[Body], Reply] = accept_all
        self.drop: Callable[[Body], Reply] = accept_all
        self.tier: Callable[[Body], Reply] = accept_all
        self.near: dict[str, str] = {}
        self.held: dict[str, list[str]] = {}
        self.limits: tuple[MemoryLimit, ...] = ()
        self.page = ""
        self.encodes: list[Body] = []
        self.tierings: list[Body] = []
        self.drops: list[Body] = []
        self.keys: list[str] = []
        self.affinities: list[str] = []
        self.traces: list[str] = []
        self.max_model_len = 8192
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    @property
    def dropped(self) -> set[str]:
        return {key for body in self.drops for key in body["kv_transfer_params"]["keys"]}

    def __enter__(self) -> "TroubledEngine":
        Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, body: Body) -> Reply:
        if body["kv_transfer_params"]["op"] == "drop":
            self.drops.append(body)
            return self.drop(body)
        if body["kv_transfer_params"]["op"] == "encode":
            self.encodes.append(body)
            return self.encode(body)
        if body["kv_transfer_params"]["op"] == "held":
            status, answer = self.tier(body)
            held = {tier: pack_keys(keys) for tier, keys in self.held.items()}
            return status, {**answer, "kv_transfer_params": {"held": held}}
        self.tierings.append(body)
        reply = self.tier(body)
        if reply[0] == 200:
            self._move(body)
        return reply

    def _move(self, body: Body) -> None:
        match parse_params(body["kv_transfer_params"]):
            case PromoteParams(tenant, segments, "gpu"):
                self.near |= {segment.key: tenant for segment in segments}
            case MoveParams(keys, "disk"):
                self.near = {key: tenant for key, tenant in self.near.items() if key not in keys}
            case LimitParams(limits):
                self.limits = limits
            case other:
                raise AssertionError(f"an engine would pay no heed to {body['kv_transfer_params']}: {other}")

    def _handler(self) -> type[QuietHandler]:
        engine = self

        class Handler(QuietHandler, BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                if self.path == "/metrics":
                    self.send_data(200, engine.page.encode())
                else:
                    self._send(200, {"data": [{"id": encoding_model().name, "max_model_len": engine.max_model_len}]})

            def do_POST(self) -> None:
                engine.keys.append(self.headers["authorization"])
                engine.affinities.append(self.headers["x-inferscale-affinity"])
                engine.traces.append(self.headers["traceparent"] or "")
                body = json.loads(self.read_data())
                status, answer = engine.answer(body)
                if status:
                    self._send(status, answer)
                else:
                    self.connection.shutdown(socket.SHUT_RDWR)

            def _send(self, status: int, answer: Body) -> None:
                self.send_data(status, json.dumps(answer).encode())

        return Handler
