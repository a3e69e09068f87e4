"""The forwarder as a child process of the gateway: the gateway's own loop never touches the disk."""

from __future__ import annotations

import asyncio
import socket
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import uvloop

from tardis_handoff import Forwarder, Spool, SpoolBusy
from tardis_jetstream import Access, Connection
from tardis_telemetry import ChildMetrics, configure_logs, get_logger

from .channel import Channel, Drain, FromForwarder, ToForwarder, send_counts
from .child import ChildProcess, RestartDelay, leave_signals_to_the_gateway

log = get_logger(__name__)


@dataclass(frozen=True, kw_only=True)
class ForwarderConfig:
    spool_dir: Path
    access: Access
    backends: tuple[str, ...]
    drain_timeout_s: float
    log_format: Literal["text", "json"]
    log_level: str


def forwarder_main(config: ForwarderConfig, sock: socket.socket) -> None:
    leave_signals_to_the_gateway()
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
    draining = told.result() is not None
    emptied = draining and await forwarder.drain(config.drain_timeout_s)
    for task in (running, counting):
        task.cancel()
    await asyncio.gather(running, counting, return_exceptions=True)
    forwarder.tidy()
    if draining:
        log.info("spool is empty" if emptied else "spool keeps what the queue has not taken", bytes=spool.size())
    await queue.close()
    channel.close()


async def _claim(spool: Spool, queue: Connection, backends: tuple[str, ...]) -> Forwarder:
    """The forwarder of a gateway that was killed may need a moment to notice."""
    for _ in range(50):
        try:
            return Forwarder(spool, queue, backends)
        except SpoolBusy as error:
            problem = error
            await asyncio.sleep(0.1)
    raise problem


class ForwarderProcess:
    """The gateway's side: starts the forwarder, starts it again when it dies, lets it drain at the end."""

    def __init__(self, config: ForwarderConfig, counts: ChildMetrics) -> None:
        self._drain_timeout_s, self._counts = config.drain_timeout_s, counts
        self._child: ChildProcess[FromForwarder, ToForwarder] = ChildProcess(forwarder_main, config, FromForwarder)
        self._task: asyncio.Task[None] | None = None
        self._draining = asyncio.Event()

    def start(self) -> None:
        self._task = asyncio.create_task(self._supervise())

    async def drain(self) -> None:
        """Waits for the child's own drain and ends it."""
        self._draining.set()
        if self._child.channel is not None:
            self._child.channel.send(Drain())
        if self._task is not None:
            await asyncio.wait({self._task}, timeout=self._drain_timeout_s + 5)
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _supervise(self) -> None:
        delay = RestartDelay()
        while True:
            delay.begin()
            try:
                exit_code = await self._run_once()
                if exit_code or not self._draining.is_set():
                    log.error("forwarder has ended", exit_code=exit_code)
            except Exception:
                log.exception("forwarder cannot be used")
            if self._draining.is_set():
                return
            await self._wait(delay.next())

    async def _run_once(self) -> int | None:
        try:
            channel = await self._child.start()
            if self._draining.is_set():
                channel.send(Drain())
            while (received := await channel.receive()) is not None:
                self._counts.take("forwarder", received[0].samples)
        finally:
            self._counts.ended("forwarder")
            exit_code = await self._child.stop()
        return exit_code

    async def _wait(self, seconds: float) -> None:
        try:
            await asyncio.wait_for(self._draining.wait(), seconds)
        except TimeoutError:
            pass
