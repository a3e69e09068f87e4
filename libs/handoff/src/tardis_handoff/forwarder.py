"""The forwarder: brings every spool log into the queue, for each backend on its own, and removes what all have passed."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from tardis_jetstream import Connection
from tardis_telemetry import catalogue as metrics

from .backend import IDLE_S, BackendForwarder
from .spool import Spool, furthest_common

TIDY_S = 1.0


class Forwarder:
    """All backends of one spool. `run` until cancelled; `drain` waits until the spool is empty or the time is up."""

    def __init__(self, spool: Spool, queue: Connection, backends: Sequence[str]) -> None:
        self._spool = spool
        self.backends = [BackendForwarder(name, spool, queue) for name in backends]
        self._lock = spool.claim_forwarding()

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
        self._spool.sweep()
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
        metrics.SPOOL_SEGMENTS.set(self._spool.segments())

    async def _tidy_regularly(self) -> None:
        while True:
            await asyncio.sleep(TIDY_S)
            self.tidy()
