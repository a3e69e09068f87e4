"""One backend's road into the queue.

One task reads groups into lane queues and one task per lane sends them, a single unacked message at a time, so that a lane never
overtakes itself. A message joins as many waiting packs of one log as fit. Its id names the log and the stretch of it, so a repeat
after a crash is dropped by the server, and a stretch that was cut differently is not.
"""

from __future__ import annotations

import asyncio
import random
from collections import deque
from dataclasses import dataclass, field
from itertools import islice

from tardis_bronze import PackError, coalesce
from tardis_jetstream import Connection, JetStreamError, Refused, TooLarge
from tardis_telemetry import catalogue as metrics
from tardis_telemetry import get_logger

from .errors import SpoolDamage, TornTail, UnknownVersion
from .log import segment_path
from .progress import GroupUnderway, LogProgress
from .provision import lane_subject
from .reader import LogReader, PlacedGroup
from .segment import LanePack
from .spool import Spool

log = get_logger(__name__)

MESSAGE_EVENTS = 4096
MESSAGE_BYTES = 900_000
MESSAGE_PACKS = 16  # bounds what a message may be when it is decompressed
READ_AHEAD_BYTES = 16 << 20
IDLE_S = 0.02
SAVE_S = 0.25
MAX_BACKOFF_S = 5.0


@dataclass(slots=True)
class WaitingPack:
    progress: LogProgress
    underway: GroupUnderway
    place: str  # names the pack within its log, for the message's id
    pack: LanePack


@dataclass(slots=True)
class Lane:
    number: int
    waiting: deque[WaitingPack] = field(default_factory=deque)
    filled: asyncio.Event = field(default_factory=asyncio.Event)
    packs_at_once: int = MESSAGE_PACKS


class BackendForwarder:
    """One backend's road into its stream, with a cursor of its own."""

    def __init__(self, backend: str, spool: Spool, queue: Connection) -> None:
        self.backend, self._spool, self._queue = backend, spool, queue
        self._saved = spool.load_cursor(backend)
        self.logs: dict[str, LogProgress] = {}
        self._lanes: dict[int, Lane] = {}
        self._buffered = 0
        self._tasks: asyncio.TaskGroup | None = None

    async def run(self) -> None:
        async with asyncio.TaskGroup() as self._tasks:
            self._tasks.create_task(self._save_regularly())
            while True:
                if not self._read_round():
                    await asyncio.sleep(IDLE_S)
                else:
                    await asyncio.sleep(0)

    @property
    def caught_up(self) -> bool:
        """Everything on disk is in the queue."""
        known = set(self._spool.log_ids())
        return known <= self.logs.keys() and all(p.idle and p.reader.at_end() for p in self.logs.values())

    def save(self) -> None:
        places = {log_id: progress.cursor() for log_id, progress in self.logs.items()}
        if places != self._saved:
            self._spool.save_cursor(self.backend, places)
            self._saved = places

    def forget(self, log_id: str) -> None:
        if progress := self.logs.pop(log_id, None):
            progress.reader.close()

    def _read_round(self) -> bool:
        """One group of every log that has one, while there is room."""
        for log_id in self._spool.log_ids():
            if log_id not in self.logs:
                reader = LogReader(self._spool.logs / log_id, self._saved.get(log_id), self._damaged)
                self.logs[log_id] = LogProgress(log_id, reader)
        found = False
        for progress in self.logs.values():
            if self._buffered >= READ_AHEAD_BYTES:
                break
            if group := self._next_group(progress):
                self._take(progress, group)
                found = True
        return found

    def _next_group(self, progress: LogProgress) -> PlacedGroup | None:
        if progress.blocked:
            return None
        try:
            return progress.reader.next()
        except UnknownVersion as error:
            progress.blocked = True
            log.error("log is left to the program that wrote it", backend=self.backend, place=str(error))
            return None

    def _take(self, progress: LogProgress, group: PlacedGroup) -> None:
        underway = progress.begin(group)
        for number, pack in enumerate(group.packs):
            lane = self._lane(pack.lane)
            lane.waiting.append(WaitingPack(progress, underway, f"{group.start}.{number}", pack))
            lane.filled.set()
            self._buffered += len(pack.data)

    def _lane(self, number: int) -> Lane:
        lane = self._lanes.get(number)
        if lane is None:
            assert self._tasks is not None
            lane = self._lanes[number] = Lane(number)
            self._tasks.create_task(self._send_lane(lane))
        return lane

    async def _send_lane(self, lane: Lane) -> None:
        while True:
            while not lane.waiting:
                lane.filled.clear()
                await lane.filled.wait()
            batch, data = _next_message(lane.waiting, lane.packs_at_once)
            first, last = batch[0], batch[-1]
            msg_id = f"{first.progress.log_id}/{lane.number}/{first.place}-{last.place}"
            try:
                await self._publish(lane.number, data, msg_id)
            except TooLarge as error:
                if len(batch) > 1:
                    lane.packs_at_once = 1
                    continue
                self._leave_out(first, str(error))
            else:
                metrics.HANDOFF_PACKS_FORWARDED.labels(self.backend).inc()
                metrics.HANDOFF_EVENTS_FORWARDED.labels(self.backend).inc(sum(w.pack.events for w in batch))
            for waiting in batch:
                lane.waiting.popleft()
                self._buffered -= len(waiting.pack.data)
                waiting.progress.pack_done(waiting.underway)

    def _leave_out(self, waiting: WaitingPack, reason: str) -> None:
        """A pack that the queue will never take must not hold up its lane for ever; it is counted, and its segment is kept."""
        metrics.HANDOFF_EVENTS_GAP.labels(self.backend).inc(waiting.pack.events)
        log_id, events = waiting.progress.log_id, waiting.pack.events
        log.error("pack is left out", backend=self.backend, log=log_id, place=waiting.place, events=events, reason=reason)
        self._spool.keep_damaged(segment_path(self._spool.logs / log_id, int(waiting.place.partition(":")[0])))

    async def _publish(self, lane: int, data: bytes, msg_id: str) -> None:
        """Does not return before the queue has the message; nothing may overtake it."""
        attempt = 0
        while True:
            try:
                await self._queue.publish(lane_subject(self.backend, lane), data, msg_id=msg_id)
            except TooLarge:
                raise
            except JetStreamError as error:
                metrics.HANDOFF_FORWARD_FAILURES.labels(self.backend).inc()
                metrics.HANDOFF_CONNECTED.set(0)
                if attempt % 10 == 0:
                    report = log.error if isinstance(error, Refused) else log.warning
                    report("queue does not take packs; they stay on disk", backend=self.backend, lane=lane, error=str(error))
                attempt += 1
                await asyncio.sleep(random.uniform(0.05, min(MAX_BACKOFF_S, 0.1 * 2 ** min(attempt, 8))))  # noqa: S311
            else:
                metrics.HANDOFF_CONNECTED.set(1)
                return

    async def _save_regularly(self) -> None:
        while True:
            await asyncio.sleep(SAVE_S)
            self.save()

    def _damaged(self, damage: SpoolDamage) -> None:
        metrics.SPOOL_DAMAGED.inc()
        log.error("spool is damaged here; the bytes are passed over", backend=self.backend, place=str(damage))
        if not isinstance(damage, TornTail):
            self._spool.keep_damaged(damage.path)


def _next_message(waiting: deque[WaitingPack], packs_at_once: int) -> tuple[list[WaitingPack], bytes]:
    """The packs at the front that go out as one message: of one log, within the limits, always at least one."""
    batch: list[WaitingPack] = []
    events = size = 0
    for entry in islice(waiting, packs_at_once):
        events += entry.pack.events
        size += len(entry.pack.data)
        if batch and (entry.progress is not batch[0].progress or events > MESSAGE_EVENTS or size > MESSAGE_BYTES):
            break
        batch.append(entry)
    if len(batch) > 1:
        try:
            return batch, coalesce([entry.pack.data for entry in batch])
        except PackError as error:  # it goes on alone, to the publisher's dead letters, and stops nobody here
            log.error("a pack cannot be joined with others", log=batch[0].progress.log_id, error=str(error))
    return batch[:1], batch[0].pack.data
