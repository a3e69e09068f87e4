"""One lane of one backend: pull a pack, deliver its events, ack it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress

from tardis_bronze import EventError, EventHead, PackError, peek, read_pack
from tardis_eventbus import Deliverer
from tardis_handoff import IN_PROGRESS_S, lane_durable, stream_name
from tardis_jetstream import Connection, Delivery, JetStreamError, Puller, Refused
from tardis_telemetry import catalogue as metrics
from tardis_telemetry import get_logger, span

from .dead_letters import DeadLetters
from .tally import Tally
from .trial import SUSPECT_AFTER, survives

log = get_logger(__name__)

PULL_WAIT_S = 1.0
AWAY_S = 0.5
GIVE_BACK_DELAY_S = 2.0


class LanePublisher:
    """The pack is acked after the bus has acked every event of it, or has refused it and the refusal is stored as a dead letter."""

    def __init__(self, backend: str, lane: int, queue: Connection, deliverer: Deliverer) -> None:
        self._backend, self._lane, self._deliverer = backend, lane, deliverer
        self._puller = Puller(queue, stream_name(backend), lane_durable(lane))
        self._dead_letters = DeadLetters(queue, backend, lane)
        self._acquitted = 0  # sequence of the pack that has stood its trial; a lane has one pack at a time

    async def run(self, stop: asyncio.Event) -> None:
        complained = False
        while not stop.is_set():
            try:
                delivery = await self._puller.next(PULL_WAIT_S)
            except JetStreamError as error:
                if not complained:
                    hint = "; run `tardis provision`" if isinstance(error, Refused) else ""
                    log.warning(f"queue is away{hint}", **self._where(), error=str(error))
                complained = True
                await asyncio.sleep(AWAY_S)
                continue
            complained = False
            if delivery is not None:
                await self._handle(delivery)

    async def _handle(self, delivery: Delivery) -> None:
        metrics.PUBLISHER_LAG_PACKS.labels(self._backend, str(self._lane)).set(delivery.pending)
        try:
            async with _kept(delivery):
                await self._settle(delivery)
        except JetStreamError as error:
            log.warning("pack could not be settled and comes again", **self._where(), error=str(error))
            await asyncio.sleep(AWAY_S)

    async def _settle(self, delivery: Delivery) -> None:
        if await self._is_deadly(delivery):
            reason = f"reading it ends the process; delivered {delivery.deliveries} times"
            await self._dead_letters.bury_pack(delivery.data, "deadly pack", reason)
            await delivery.ack()
            return
        try:
            parts = read_pack(delivery.data).events()
        except PackError as error:
            await self._dead_letters.bury_pack(delivery.data, "damaged pack", str(error))
            await delivery.ack()
            return
        with Tally(self._backend, len(parts), repeated=delivery.deliveries > 1) as tally:
            await self._deliver(delivery, parts, tally)

    async def _deliver(self, delivery: Delivery, parts: Sequence[bytes], tally: Tally) -> None:
        events, malformed = _read(parts)
        with span("publish", **self._where(), events=len(events)):
            report = await self._deliverer.deliver(events)
        tally.published(report.delivered)
        for data, reason in malformed:
            await self._dead_letters.bury_malformed(data, reason)
            tally.buried()
        for event, reason in report.refused:
            await self._dead_letters.bury_event(event, reason)
            tally.buried()
        if report.left:
            left = len(report.left)
            log.warning("backend did not take a pack in time; it is given back", **self._where(), events=left, reason=report.reason)
            await delivery.give_back(GIVE_BACK_DELAY_S)
        else:
            await delivery.ack()

    async def _is_deadly(self, delivery: Delivery) -> bool:
        if delivery.deliveries <= SUSPECT_AFTER or delivery.sequence == self._acquitted:
            return False
        if not await survives(delivery.data):
            return True
        self._acquitted = delivery.sequence
        return False

    def _where(self) -> dict[str, str | int]:
        return {"backend": self._backend, "lane": self._lane}


def _read(parts: Sequence[bytes]) -> tuple[list[EventHead], list[tuple[bytes, str]]]:
    """The events, and what is none with the reason: one bad element does not take the others with it."""
    events: list[EventHead] = []
    malformed: list[tuple[bytes, str]] = []
    for data in parts:
        try:
            events.append(peek(data))
        except EventError as error:
            malformed.append((data, str(error)))
    return events, malformed


@asynccontextmanager
async def _kept(delivery: Delivery) -> AsyncIterator[None]:
    """Ours until the block ends, dead letters and ack included; given back at once if we are told to stop."""
    keeper = asyncio.create_task(_keep(delivery))
    try:
        yield
    except asyncio.CancelledError:
        with suppress(JetStreamError):
            await delivery.give_back()
        raise
    finally:
        keeper.cancel()


async def _keep(delivery: Delivery) -> None:
    """Tells the queue that we are still at it, so that nobody else gets the pack meanwhile."""
    while True:
        await asyncio.sleep(IN_PROGRESS_S)
        try:
            await delivery.in_progress()
        except JetStreamError as error:
            log.debug("could not say in-progress", error=str(error))
