"""The whole fleet on one machine: queue, simulator, publishers, gateway; started in that order, drained in the reverse."""

from __future__ import annotations

import asyncio
import socket
import time

import aiohttp

from tardis_handoff import provision
from tardis_jetstream import Connection, access
from tardis_telemetry import get_logger

from .children import Child, Program, python
from .embedded import nats_server
from .settings import MachineSettings

log = get_logger(__name__)

START_TIMEOUT_S = 60.0


class StartError(Exception):
    """The machine cannot start; the text names the setting to change."""


class Machine:
    def __init__(self, settings: MachineSettings) -> None:
        self.settings = settings
        self.children: list[Child] = []

    async def start(self) -> None:
        settings = self.settings
        self._check_ports()
        if settings.backends:
            await self._start_queue()
        if settings.simulated:
            await self._start(Program(name="simulator", command=python("tardis_simulator"), environment=settings.of_simulator()))
            await _wait_for_http(f"http://{settings.simulator.host}:{settings.simulator.port}/ready", "simulator")
        for backend in settings.backends:
            await self._start(
                Program(
                    name=f"publisher-{backend}",
                    command=python("tardis_publisher", backend),
                    environment=settings.of_publisher(),
                    stop_timeout_s=settings.publisher.drain_timeout_s + 10,
                )
            )
        await self._start(
            Program(
                name="gateway",
                command=python("tardis_gateway"),
                environment=settings.of_gateway(),
                stop_timeout_s=2 * settings.server.drain_timeout_s + 20,
            )
        )
        await _wait_for_http(f"http://127.0.0.1:{settings.server.port}/ready", "gateway")

    async def stop(self) -> None:
        for child in reversed(self.children):
            log.info("stopping", child=child.program.name)
            await child.stop()

    async def _start(self, program: Program) -> None:
        child = Child(program)
        await child.start()
        self.children.append(child)

    async def _start_queue(self) -> None:
        settings = self.settings
        if settings.handoff.embedded:
            await self._start(nats_server(settings.handoff.embedded_port, settings.handoff.spool_dir / "queue"))
        queue = Connection(access([settings.queue_url], settings.handoff), name="tardis-provision")
        try:
            await provision(
                queue, settings.backends, lanes=settings.handoff.lanes, max_bytes=int(settings.handoff.stream_max_bytes)
            )
        finally:
            await queue.close()

    def _check_ports(self) -> None:
        wanted = [("port", self.settings.server.port)]
        if self.settings.backends and self.settings.handoff.embedded:
            wanted.append(("handoff-embedded-port", self.settings.handoff.embedded_port))
        if self.settings.backends and self.settings.publisher.port:
            wanted.append(("publisher-port", self.settings.publisher.port))
        if self.settings.simulated:
            wanted.append(("simulator-port", self.settings.simulator.port))
        for name, port in wanted:
            with socket.socket() as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                try:
                    probe.bind(("127.0.0.1", port))
                except OSError:
                    raise StartError(f"{name}: {port} is in use by another program") from None


async def _wait_for_http(url: str, name: str) -> None:
    until = time.monotonic() + START_TIMEOUT_S
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=2)) as session:
        while True:
            try:
                async with session.get(url) as answer:
                    if answer.status == 200:
                        return
            except (TimeoutError, aiohttp.ClientError):
                pass
            if time.monotonic() > until:
                raise StartError(f"{name} did not become ready within {START_TIMEOUT_S:.0f} s")
            await asyncio.sleep(0.1)
