"""`tardis-machine`: everything on one machine with one command."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Sequence

from tardis_jetstream import JetStreamError
from tardis_settings import (
    HandoffOptions,
    MachineOptions,
    NatsOptions,
    PublisherOptions,
    ServerOptions,
    SimulatorOptions,
    load_or_exit,
)
from tardis_telemetry import configure_logs

from .banner import VERSION, banner
from .machine import Machine, StartError
from .settings import MachineSettings


def main(argv: Sequence[str] | None = None) -> None:
    groups = (MachineOptions, ServerOptions, HandoffOptions, PublisherOptions, NatsOptions, SimulatorOptions)
    loaded = load_or_exit(*groups, argv=argv, program="tardis-machine", version=VERSION)
    settings = MachineSettings(
        machine=loaded[MachineOptions],
        server=loaded[ServerOptions],
        handoff=loaded[HandoffOptions],
        publisher=loaded[PublisherOptions],
        nats=loaded[NatsOptions],
        simulator=loaded[SimulatorOptions],
    )
    if problem := settings.problem():
        sys.stderr.write(f"{problem}\n")
        sys.exit(2)
    server = settings.server
    configure_logs(server.log_format, "debug" if server.debug else server.log_level, "machine")
    sys.exit(asyncio.run(_run(Machine(settings))))


async def _run(machine: Machine) -> int:
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    starting = asyncio.create_task(machine.start())
    stopping = asyncio.create_task(stop.wait())
    try:
        await asyncio.wait({starting, stopping}, return_when=asyncio.FIRST_COMPLETED)
        if starting.done():
            starting.result()
            sys.stdout.write(banner(machine) + "\n")
            sys.stdout.flush()
        await stop.wait()
    except (StartError, JetStreamError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    finally:
        starting.cancel()
        stopping.cancel()
        await machine.stop()
    return 0
