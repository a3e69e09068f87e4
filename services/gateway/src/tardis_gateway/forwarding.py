"""The forwarder as a child process of the gateway: the gateway's own loop never touches the disk."""

from __future__ import annotations

import asyncio
import multiprocessing
import signal
import socket
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import uvloop

from tardis_handoff import Forwarder, HandoffError, Spool
from tardis_jetstream import Access, Connection
from tardis_telemetry import ChildMetrics, configure_logs, get_logger

from .channel import Channel, Drain, FromForwarder, ToForwarder, send_counts

log = get_logger(__name__)

RESTART_DELAY_S = 0.5


@dataclass(frozen=True, kw_only=True)
class ForwarderConfig:
    spool_dir: Path
    access: Access
    backends: tuple[str, ...]
    drain_timeout_s: float
    log_format: Literal["text", "json"]
    log_level: str


def forwarder_main(config: ForwarderConfig, sock: socket.socket) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    configure_logs(config.log_format, config.log_level, "forwarder")
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_forward(config, sock))


async def _forward(config: ForwarderConfig, sock: socket.socket) -> None:
    """Until the gateway closes its end; when it says so, what is on disk still goes out first, if it can in time."""
    channel: Channel[ToForwarder, FromForwarder] = Channel(*await asyncio.open_connection(sock=sock), ToForwarder)
    spool, queue = Spool(config.spool_dir), Connection(config.access, name="tardis-forwarder")
    forwarder = await _claim(spool, queue, config.backends)
    running, counting = asyncio.create_task(forwarder.run()), asyncio.create_task(send_counts(channel))
    told = asyncio.create_task(channel.receive())
    await asyncio.wait({running, told}, return_when=asyncio.FIRST_COMPLETED)
    if running.done():
        running.result()
    if told.result() is not None:
        emptied = await forwarder.drain(config.drain_timeout_s)
        log.info("spool is empty" if emptied else "spool keeps what the queue has not taken", bytes=spool.size())
    for task in (running, counting):
        task.cancel()
    await asyncio.gather(running, counting, return_exceptions=True)
    forwarder.tidy()
    await queue.close()
    channel.close()


async def _claim(spool: Spool, queue: Connection, backends: tuple[str, ...]) -> Forwarder:
    """The forwarder of a gateway that was killed may need a moment to notice."""
    for _ in range(50):
        try:
            return Forwarder(spool, queue, backends)
        except HandoffError as error:
            problem = error
            await asyncio.sleep(0.1)
    raise problem


class ForwarderProcess:
    """The gateway's side: starts the forwarder, starts it again when it dies, lets it drain at the end."""

    def __init__(self, config: ForwarderConfig, counts: ChildMetrics) -> None:
        self._config, self._counts = config, counts
        self._task: asyncio.Task[None] | None = None
        self._channel: Channel[FromForwarder, ToForwarder] | None = None
        self._process: multiprocessing.process.BaseProcess | None = None
        self._draining = False

    def start(self) -> None:
        self._task = asyncio.create_task(self._supervise())

    async def drain(self) -> None:
        """Waits for the child's own drain and ends it."""
        self._draining = True
        if self._channel is not None:
            self._channel.send(Drain())
        if self._task is not None:
            await asyncio.wait({self._task}, timeout=self._config.drain_timeout_s + 5)
            self._task.cancel()
        if self._process is not None and self._process.is_alive():
            self._process.kill()

    async def _supervise(self) -> None:
        while True:
            ours, theirs = socket.socketpair()
            self._process = multiprocessing.get_context("spawn").Process(
                target=forwarder_main, args=(self._config, theirs), daemon=True
            )
            await asyncio.to_thread(self._process.start)
            theirs.close()
            self._channel = Channel(*await asyncio.open_connection(sock=ours), FromForwarder)
            if self._draining:
                self._channel.send(Drain())
            while (received := await self._channel.receive()) is not None:
                self._counts.take("forwarder", received[0].samples)
            self._counts.ended("forwarder")
            await asyncio.to_thread(self._process.join)
            if self._draining:
                return
            log.error("forwarder has ended; starting another", exit_code=self._process.exitcode)
            await asyncio.sleep(RESTART_DELAY_S)
