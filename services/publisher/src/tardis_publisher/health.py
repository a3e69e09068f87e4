"""`/metrics`, `/live` and `/ready` of a publisher, on its own event loop: if that hangs, so do the answers."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import uvicorn

from tardis_telemetry import render


class Health:
    """An ASGI application; `ready` says whether the publisher can do its work now."""

    def __init__(self, ready: Callable[[], bool]) -> None:
        self._ready = ready

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        status, body, content_type = self._answer(scope["path"])
        headers = [(b"content-type", content_type.encode()), (b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    def _answer(self, path: str) -> tuple[int, bytes, str]:
        match path:
            case "/metrics":
                return 200, *render()
            case "/live":
                return 200, b"live\n", "text/plain"
            case "/ready":
                return (200, b"ready\n", "text/plain") if self._ready() else (503, b"not ready\n", "text/plain")
            case _:
                return 404, b"not found\n", "text/plain"


@asynccontextmanager
async def listening(port: int, app: Health) -> AsyncIterator[None]:
    """Answers while the block runs; port 0 listens on none."""
    if port == 0:
        yield
        return
    config = uvicorn.Config(
        app, ws="none", lifespan="off", log_config=None, access_log=False, timeout_graceful_shutdown=1, server_header=False
    )
    server = _Server(config)
    with _listen(port) as listener:
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        try:
            yield
        finally:
            server.should_exit = True
            await serving


def _listen(port: int) -> socket.socket:
    try:
        return socket.create_server(("0.0.0.0", port))  # noqa: S104 - probes and scrapers come from other hosts
    except OSError as error:
        sys.stderr.write(f"publisher-port: {port} cannot be listened on ({os.strerror(error.errno or 0)})\n")
        sys.exit(1)


class _Server(uvicorn.Server):
    """Signals belong to the publisher, which answers until it has drained."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield
