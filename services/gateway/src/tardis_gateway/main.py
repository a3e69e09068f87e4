"""`tardis-gateway`: the gateway alone, as a fleet runs it."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Sequence

import uvloop

from tardis_settings import HandoffOptions, ServerOptions, load_or_exit
from tardis_telemetry import configure_logs, configure_traces

from .server import Gateway, log_level


def main(argv: Sequence[str] | None = None) -> None:
    settings = load_or_exit(ServerOptions, HandoffOptions, argv=argv, program="tardis-gateway")
    server, handoff = settings[ServerOptions], settings[HandoffOptions]
    configure_logs(server.log_format, log_level(server), "gateway")
    configure_traces(server.otlp_endpoint, "tardis-gateway")
    if server.clear_cache:
        shutil.rmtree(server.cache_dir / "feeds", ignore_errors=True)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_run(server, handoff))


async def _run(server: ServerOptions, handoff: HandoffOptions) -> None:
    await Gateway(server, handoff).run()
