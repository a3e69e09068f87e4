"""The gateway from start to drain, read top to bottom."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn

from tardis_jetstream import access
from tardis_settings import HandoffOptions, ServerOptions
from tardis_telemetry import ChildMetrics, get_logger

from .app import create_app
from .forwarding import ForwarderConfig, ForwarderProcess
from .pool import WorkerPool
from .protocol import GatewayProtocol
from .worker import WorkerConfig

log = get_logger(__name__)


class Gateway:
    def __init__(self, server: ServerOptions, handoff: HandoffOptions) -> None:
        self._options = server
        self._counts = ChildMetrics()
        self._pool = WorkerPool(_worker_config(server, handoff), server.workers, self._counts)
        self._forwarder = ForwarderProcess(_forwarder_config(server, handoff), self._counts) if handoff.enabled else None
        self._stop = asyncio.Event()

    async def run(self) -> None:
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, self._stop.set)
        http = _HttpServer(self._http_config())
        listening = _listen(self._options.port)  # before anything else is started
        self._pool.start()
        if self._forwarder is not None:
            self._forwarder.start()
        serving = asyncio.create_task(http.serve(sockets=[listening]))
        stopping = asyncio.create_task(self._stop.wait())
        await asyncio.wait({serving, stopping}, return_when=asyncio.FIRST_COMPLETED)
        await self._drain(http, serving)

    async def _drain(self, http: _HttpServer, serving: asyncio.Task[None]) -> None:
        """Stop accepting, let responses finish, then the workers, and last what they have spooled."""
        log.info("gateway is draining", replays=self._pool.active)
        http.should_exit = True
        try:
            await serving
        finally:
            await self._pool.stop()
            if self._forwarder is not None:
                await self._forwarder.drain()
            log.info("gateway stopped")

    def _http_config(self) -> uvicorn.Config:
        return uvicorn.Config(
            create_app(self._pool, self._counts, stall_timeout_s=self._options.client_stall_timeout_s),
            http=GatewayProtocol,
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            timeout_graceful_shutdown=max(1, round(self._options.drain_timeout_s)),
        )


def _listen(port: int) -> socket.socket:
    try:
        return socket.create_server(("0.0.0.0", port), backlog=2048)  # noqa: S104 - containers are reached on all addresses
    except OSError as error:
        sys.stderr.write(f"port: {port} cannot be listened on ({os.strerror(error.errno or 0)})\n")
        sys.exit(1)


class _HttpServer(uvicorn.Server):
    """The gateway handles signals itself: uvicorn would stop before the workers have drained."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def _worker_config(server: ServerOptions, handoff: HandoffOptions) -> WorkerConfig:
    return WorkerConfig(
        index=0,
        api_url=server.api_url,
        api_key=server.api_key.get_secret_value() if server.api_key else None,
        cache_dir=server.cache_dir,
        spool_dir=handoff.spool_dir if handoff.enabled else None,
        spool_fsync=handoff.spool_fsync,
        lanes=handoff.lanes,
        producer_id=handoff.producer_id,
        log_format=server.log_format,
        log_level=log_level(server),
    )


def _forwarder_config(server: ServerOptions, handoff: HandoffOptions) -> ForwarderConfig:
    if not handoff.url:
        sys.stderr.write("handoff-url: missing, but handoff-backends are given; allowed: both or neither\n")
        sys.exit(2)
    return ForwarderConfig(
        spool_dir=handoff.spool_dir,
        access=access([handoff.url], handoff),
        backends=handoff.backends,
        drain_timeout_s=server.drain_timeout_s,
        log_format=server.log_format,
        log_level=log_level(server),
    )


def log_level(server: ServerOptions) -> str:
    return "debug" if server.debug else server.log_level
