"""The forwarder: tails every spool log and puts its packs into the queue, for each backend on its own.

Per backend one task reads groups into lane queues and one task per lane sends them, a single unacked message at a time, so that a
lane never overtakes itself. A message joins as many waiting packs of one log as fit. Its id names the log and the stretch of it, so
a repeat after a crash is dropped by the server, and a stretch that was cut differently is not.
"""

from __future__ import annotations

import asyncio
import random
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice

from tardis_bronze import PackError, coalesce
from tardis_jetstream import Connection, JetStreamError, Refused
from tardis_telemetry import catalogue as metrics
from tardis_telemetry import get_logger

from .errors import SpoolDamage
from .progress import GroupUnderway, LogProgress
from .provision import lane_subject
from .reader import LogReader, PlacedGroup, Position
from .segment import LanePack
from .spool import Spool, furthest_common

log = get_logger(__name__)

MESSAGE_EVENTS = 4096
MESSAGE_BYTES = 900_000
MESSAGE_PACKS = 16  # bounds what a message may be when it is decompressed
READ_AHEAD_BYTES = 16 << 20
IDLE_S = 0.02
SAVE_S = 0.25
TIDY_S = 1.0
MAX_BACKOFF_S = 5.0


@dataclass(slots=True)
class WaitingPack:
    progress: LogProgress
    underway: GroupUnderway
    place: Position
    pack: LanePack


@dataclass(slots=True)
class Lane:
    number: int
    waiting: deque[WaitingPack] = field(default_factory=deque)
    filled: asyncio.Event = field(default_factory=asyncio.Event)


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
            if group := progress.reader.next():
                self._take(progress, group)
                found = True
        return found

    def _take(self, progress: LogProgress, group: PlacedGroup) -> None:
        underway = progress.begin(group)
        for pack in group.packs:
            lane = self._lane(pack.lane)
            lane.waiting.append(WaitingPack(progress, underway, group.start, pack))
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
            batch, data = _next_message(lane.waiting)
            first, last = batch[0], batch[-1]
            msg_id = f"{first.progress.log_id}/{lane.number}/{first.place}-{last.place}"
            await self._publish(lane.number, data, msg_id)
            for waiting in batch:
                lane.waiting.popleft()
                self._buffered -= len(waiting.pack.data)
                waiting.progress.pack_done(waiting.underway)
            metrics.HANDOFF_PACKS_FORWARDED.labels(self.backend).inc()
            metrics.HANDOFF_EVENTS_FORWARDED.labels(self.backend).inc(sum(w.pack.events for w in batch))

    async def _publish(self, lane: int, data: bytes, msg_id: str) -> None:
        """Does not return before the queue has the message; nothing may overtake it."""
        attempt = 0
        while True:
            try:
                await self._queue.publish(lane_subject(self.backend, lane), data, msg_id=msg_id)
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


def _next_message(waiting: deque[WaitingPack]) -> tuple[list[WaitingPack], bytes]:
    """The packs at the front that go out as one message: of one log, within the limits, always at least one."""
    batch: list[WaitingPack] = []
    events = size = 0
    for entry in islice(waiting, MESSAGE_PACKS):
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


class Forwarder:
    """All backends of one spool. `run` until cancelled; `drain` waits until the spool is empty or the time is up."""

    def __init__(self, spool: Spool, queue: Connection, backends: Sequence[str]) -> None:
        self._spool = spool
        self._lock = spool.claim_forwarding()
        self.backends = [BackendForwarder(name, spool, queue) for name in backends]

    async def run(self) -> None:
        async with asyncio.TaskGroup() as tasks:
            for backend in self.backends:
                tasks.create_task(backend.run())
            tasks.create_task(self._tidy_regularly())

    async def drain(self, timeout: float) -> bool:
        """Whether everything on disk reached the queue."""
        try:
            async with asyncio.timeout(timeout):
                while not all(backend.caught_up for backend in self.backends):
                    await asyncio.sleep(IDLE_S)
        except TimeoutError:
            return False
        return True

    def tidy(self) -> None:
        """Removes what every backend has passed."""
        for backend in self.backends:
            backend.save()
        for log_id in self._spool.log_ids():
            progresses = [backend.logs.get(log_id) for backend in self.backends]
            if all(progress is not None and progress.finished for progress in progresses):
                self._spool.remove_log(log_id)
                for backend in self.backends:
                    backend.forget(log_id)
            elif reached := furthest_common(progress.cursor() if progress else None for progress in progresses):
                self._spool.remove_passed(log_id, reached)
        metrics.SPOOL_DISK_BYTES.set(self._spool.size())

    async def _tidy_regularly(self) -> None:
        while True:
            await asyncio.sleep(TIDY_S)
            self.tidy()
