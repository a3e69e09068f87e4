"""`tardis tail nats`: reads a backend's target and prints its events, and at the end what was lost, repeated or reordered.

Exit codes: 0 all is well, 1 the target cannot be read, 2 wrong settings, 3 something was lost.
"""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import AsyncIterator, Sequence

from tardis_bronze import EventError, Ledger, Verdict, decode
from tardis_jetstream import JetStreamError
from tardis_settings import NatsOptions, Options, ProcessOptions, load_or_exit, setting
from tardis_telemetry import configure_logs

from .nats_target import read_nats
from .show import as_json, for_terminal

TARGETS = ("nats",)
LOST = 3


class TailOptions(Options):
    """Tail."""

    from_start: bool = setting(False, "Begin with the oldest event that the target holds instead of the next one.")
    count: int = setting(0, "Stop after this many events; 0 for no limit.", ge=0)
    idle_s: float = setting(0, "Stop after this many seconds without an event; 0 waits for ever.", ge=0)
    repeats: bool = setting(False, "Print repeats too; they are always counted.")


def main(argv: Sequence[str]) -> int:
    words = list(argv)
    target = words.pop(0) if words and not words[0].startswith("-") else ""
    settings = load_or_exit(ProcessOptions, TailOptions, NatsOptions, argv=words, program="tardis tail TARGET")
    if target not in TARGETS:
        print(f"target: {target[:80] or 'missing'}; allowed: {', '.join(TARGETS)}", file=sys.stderr)
        return 2
    process, nats = settings[ProcessOptions], settings[NatsOptions]
    configure_logs(process.log_format, "warning" if process.log_level == "info" else process.log_level, "tail")
    if not nats.enabled:
        print("nats-servers: missing; `tardis tail nats` needs nats-servers and nats-subject", file=sys.stderr)
        return 2
    options = settings[TailOptions]
    ledger = Ledger(from_start=options.from_start)
    try:
        asyncio.run(_tail(read_nats(nats, options.from_start), options, ledger))
    except JetStreamError as error:
        print(f"nats: {error}", file=sys.stderr)
        return 1
    report = ledger.report()
    print(report, file=sys.stderr)
    return LOST if report.lost else 0


async def _tail(pages: AsyncIterator[list[bytes]], options: TailOptions, ledger: Ledger) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    stopping = asyncio.create_task(stop.wait())
    shown = 0
    while not (options.count and shown >= options.count):
        following = asyncio.ensure_future(anext(pages))
        await asyncio.wait({following, stopping}, timeout=options.idle_s or None, return_when=asyncio.FIRST_COMPLETED)
        if not following.done():
            following.cancel()
            break
        for data in following.result():
            shown += _show(data, options, ledger)
            if options.count and shown >= options.count:
                break
        sys.stdout.flush()
    stopping.cancel()


def _show(data: bytes, options: TailOptions, ledger: Ledger) -> int:
    try:
        event = decode(data)
    except EventError as error:
        print(f"not a Bronze event ({len(data)} bytes): {error}", file=sys.stderr)
        return 0
    if ledger.see(event) is Verdict.REPEAT and not options.repeats:
        return 0
    line = for_terminal(event) if sys.stdout.isatty() else as_json(event)
    sys.stdout.write(line + "\n")
    return 1
