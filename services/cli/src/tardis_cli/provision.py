"""`tardis provision`: the queue's streams and lane consumers, made or checked. May be run again at any time."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence

from tardis_handoff import provision
from tardis_jetstream import Connection, JetStreamError, access
from tardis_settings import HandoffOptions, ProcessOptions, load_or_exit
from tardis_telemetry import configure_logs


def main(argv: Sequence[str]) -> int:
    settings = load_or_exit(ProcessOptions, HandoffOptions, argv=argv, program="tardis provision")
    process, handoff = settings[ProcessOptions], settings[HandoffOptions]
    configure_logs(process.log_format, process.log_level, "provision")
    for name, value in (("handoff-url", handoff.url), ("handoff-backends", handoff.backends)):
        if not value:
            print(f"{name}: missing; `tardis provision` needs the queue's address and the backends", file=sys.stderr)
            return 2
    try:
        asyncio.run(_provision(handoff))
    except JetStreamError as error:
        print(f"the queue is not in place: {error}", file=sys.stderr)
        return 1
    print(f"the queue is in place for {', '.join(handoff.backends)}")
    return 0


async def _provision(handoff: HandoffOptions) -> None:
    queue = Connection(access([handoff.url], handoff), name="tardis-provision")
    try:
        await provision(queue, handoff.backends, lanes=handoff.lanes, max_bytes=int(handoff.stream_max_bytes))
    finally:
        await queue.close()
