"""One lane of one backend: pull a pack, deliver its events, ack it."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence

from tardis_bronze import EventHead, PackError, peek, read_pack
from tardis_eventbus import Deliverer, Report, dedup_id
from tardis_handoff import IN_PROGRESS_S, dead_letter_subject, lane_durable, stream_name
from tardis_jetstream import Connection, Delivery, JetStreamError, Puller, Refused
from tardis_telemetry import catalogue as metrics
from tardis_telemetry import get_logger, span

log = get_logger(__name__)

PULL_WAIT_S = 1.0
AWAY_S = 0.5
GIVE_BACK_DELAY_S = 2.0


class LanePublisher:
    """The pack is acked after the bus has acked every event of it, or has refused it and the refusal is stored as a dead letter."""

    def __init__(self, backend: str, lane: int, queue: Connection, deliverer: Deliverer) -> None:
        self._backend, self._lane, self._queue, self._deliverer = backend, lane, queue, deliverer
        self._puller = Puller(queue, stream_name(backend), lane_durable(lane))

    async def run(self, stop: asyncio.Event) -> None:
        complained = False
        while not stop.is_set():
            try:
                delivery = await self._puller.next(PULL_WAIT_S)
                complained = False
                if delivery is not None:
                    await self._handle(delivery)
            except JetStreamError as error:
                if not complained:
                    hint = "; run `tardis provision`" if isinstance(error, Refused) else ""
                    log.warning(f"queue is away{hint}", backend=self._backend, lane=self._lane, error=str(error))
                complained = True
                await asyncio.sleep(AWAY_S)

    async def _handle(self, delivery: Delivery) -> None:
        metrics.PUBLISHER_LAG_PACKS.labels(self._backend, str(self._lane)).set(delivery.pending)
        try:
            events = [peek(data) for data in read_pack(delivery.data).events()]
        except PackError as error:
            log.error("pack is damaged and goes to the dead letters", backend=self._backend, lane=self._lane, error=str(error))
            await self._bury(delivery.data, hashlib.sha256(delivery.data).hexdigest(), "damaged pack", str(error))
            await delivery.ack()
            return
        metrics.PUBLISHER_EVENTS_RECEIVED.labels(self._backend).inc(len(events))
        with span("publish", **self._where(), events=len(events)):
            report = await self._deliver(delivery, events)
        metrics.PUBLISHER_EVENTS_PUBLISHED.labels(self._backend).inc(report.delivered)
        for event, reason in report.refused:
            await self._bury(event.data, dedup_id(event), "refused", reason)
        if report.left:
            left = len(report.left)
            log.warning("backend did not take a pack in time; it is given back", **self._where(), events=left, reason=report.reason)
            await delivery.give_back(GIVE_BACK_DELAY_S)
        else:
            await delivery.ack()

    async def _deliver(self, delivery: Delivery, events: Sequence[EventHead]) -> Report:
        keeper = asyncio.create_task(_keep(delivery))
        try:
            return await self._deliverer.deliver(events)
        except asyncio.CancelledError:
            await delivery.give_back()
            raise
        finally:
            keeper.cancel()

    async def _bury(self, data: bytes, ident: str, kind: str, reason: str) -> None:
        metrics.PUBLISHER_EVENTS_DEAD_LETTERED.labels(self._backend, kind).inc()
        log.error("event goes to the dead letters", **self._where(), id=ident, reason=reason)
        headers = {"Tardis-Kind": kind, "Tardis-Reason": " ".join(reason.split())[:500], "Tardis-Lane": str(self._lane)}
        await self._queue.publish(dead_letter_subject(self._backend), data, msg_id=ident, headers=headers)

    def _where(self) -> dict[str, str | int]:
        return {"backend": self._backend, "lane": self._lane}


async def _keep(delivery: Delivery) -> None:
    """Tells the queue that we are still at it, so that nobody else gets the pack meanwhile."""
    while True:
        await asyncio.sleep(IN_PROGRESS_S)
        try:
            await delivery.in_progress()
        except JetStreamError as error:
            log.debug("could not say in-progress", error=str(error))
