"""A publisher: all lanes of one backend, from start to drain."""

from __future__ import annotations

import asyncio

from tardis_eventbus import Backend, BackendError, Deliverer, RetryPolicy
from tardis_jetstream import Connection
from tardis_telemetry import get_logger

from .lane import LanePublisher

log = get_logger(__name__)

OPEN_RETRY_S = 2.0


class Publisher:
    def __init__(
        self, backend: Backend, queue: Connection, *, lanes: int, policy: RetryPolicy, max_batch: int, drain_timeout_s: float
    ) -> None:
        self._backend, self._queue, self._lanes = backend, queue, lanes
        self._policy, self._max_batch, self._drain_timeout_s = policy, max_batch, drain_timeout_s
        self._publishing = False

    @property
    def ready(self) -> bool:
        """The backend is open, the queue is connected, and we are not on our way out."""
        return self._publishing and self._queue.connected

    async def run(self, stop: asyncio.Event) -> None:
        """Publishes until `stop` is set; then finishes what is in flight, and gives back what cannot be finished in time."""
        try:
            deliverer = await self._open(stop)
            if deliverer is not None:
                await self._publish(deliverer, stop)
        finally:
            await self._backend.close()
            await self._queue.close()
            log.info("publisher stopped", backend=self._backend.name)

    async def _open(self, stop: asyncio.Event) -> Deliverer | None:
        """The backend may come up after us: say what is wrong, and try again."""
        while not stop.is_set():
            try:
                limits = await self._backend.open()
                return Deliverer(self._backend, limits, self._policy, max_batch=self._max_batch)
            except BackendError as error:
                log.error("backend cannot be used yet", backend=self._backend.name, error=str(error))
                await wait_at_most(stop, OPEN_RETRY_S)
        return None

    async def _publish(self, deliverer: Deliverer, stop: asyncio.Event) -> None:
        lanes = [LanePublisher(self._backend.name, lane, self._queue, deliverer) for lane in range(self._lanes)]
        tasks = [asyncio.create_task(lane.run(stop)) for lane in lanes]
        log.info("publisher is running", backend=self._backend.name, lanes=self._lanes)
        stopping = asyncio.create_task(stop.wait())
        self._publishing = True
        await asyncio.wait({stopping, *tasks}, return_when=asyncio.FIRST_COMPLETED)
        self._publishing = False
        stop.set()  # a lane that failed takes the process down with it; the supervisor starts it again
        _, late = await asyncio.wait(tasks, timeout=self._drain_timeout_s)
        for task in late:
            task.cancel()
        results = await asyncio.gather(*tasks, return_exceptions=True)
        for result in results:
            if isinstance(result, Exception):
                raise result


async def wait_at_most(event: asyncio.Event, seconds: float) -> None:
    try:
        await asyncio.wait_for(event.wait(), seconds)
    except TimeoutError:
        pass
