"""`tardis-publisher BACKEND [options]`: moves packs from the queue to one backend."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Sequence

from tardis_eventbus import Backend, RetryPolicy
from tardis_jetstream import Connection, access
from tardis_settings import HandoffOptions, Loaded, NatsOptions, ProcessOptions, PublisherOptions, load_or_exit
from tardis_telemetry import configure_logs, configure_traces

from .health import Health, listening
from .publisher import Publisher

BACKENDS = ("nats",)
GROUPS = (ProcessOptions, HandoffOptions, PublisherOptions, NatsOptions)


def main(argv: Sequence[str] | None = None) -> None:
    words = list(sys.argv[1:] if argv is None else argv)
    name = words.pop(0) if words and not words[0].startswith("-") else ""
    settings = load_or_exit(*GROUPS, argv=words, program="tardis-publisher BACKEND")
    if name not in BACKENDS:
        sys.stderr.write(f"backend: {name or 'missing'}; allowed: {', '.join(BACKENDS)}\n")
        sys.exit(2)
    process = settings[ProcessOptions]
    configure_logs(process.log_format, process.log_level, f"publisher-{name}")
    configure_traces(process.otlp_endpoint, f"tardis-publisher-{name}")
    asyncio.run(_run(settings))


async def _run(settings: Loaded) -> None:
    handoff, own, nats = settings[HandoffOptions], settings[PublisherOptions], settings[NatsOptions]
    if not nats.enabled or not handoff.url:
        missing = "handoff-url" if not handoff.url else "nats-servers and nats-subject"
        sys.stderr.write(f"{missing}: missing; a publisher needs the queue and its backend\n")
        sys.exit(2)
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    publisher = Publisher(
        _open_nats(nats),
        Connection(access([handoff.url], handoff), name="tardis-publisher-queue"),
        lanes=handoff.lanes,
        policy=RetryPolicy(max_attempts=nats.retry_max_attempts, max_elapsed_s=nats.retry_max_elapsed_s),
        max_batch=nats.max_batch_size,
        drain_timeout_s=own.drain_timeout_s,
    )
    async with listening(own.port, Health(lambda: publisher.ready)):
        await publisher.run(stop)


def _open_nats(options: NatsOptions) -> Backend:
    from tardis_eventbus.backends.nats import NatsBackend

    return NatsBackend(options)
