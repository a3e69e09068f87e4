"""Delivering a pack's events through a backend: batches, bounded retries, nothing overtaking within its key."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field

from tardis_bronze import EventHead
from tardis_telemetry import catalogue as metrics

from .contract import Backend, Limits, Outcome, Status, key_of


@dataclass(frozen=True, kw_only=True)
class RetryPolicy:
    max_attempts: int = 8
    max_elapsed_s: float = 60.0
    first_delay_s: float = 0.05
    max_delay_s: float = 5.0

    def delay(self, attempt: int) -> float:
        """Full jitter: anywhere between nothing and the exponential step."""
        return random.uniform(0, min(self.max_delay_s, self.first_delay_s * 2**attempt))  # noqa: S311


@dataclass(slots=True)
class Report:
    """What became of a pack. `left` is what retries could not deliver: it must be given back, in this order."""

    delivered: int = 0
    refused: list[tuple[EventHead, str]] = field(default_factory=list)
    left: list[EventHead] = field(default_factory=list)
    reason: str = ""


class Deliverer:
    def __init__(
        self,
        backend: Backend,
        limits: Limits,
        policy: RetryPolicy,
        *,
        max_batch: int,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._backend, self._limits, self._policy = backend, limits, policy
        self._max_batch = min(max_batch, limits.batch_events)
        self._clock, self._sleep = clock, sleep

    async def deliver(self, events: Sequence[EventHead]) -> Report:
        report = Report()
        started, attempt = self._clock(), 0
        waiting = [event for event in events if self._fits(event, report)]
        while waiting:
            before = report.delivered
            waiting = await self._round(waiting, report)
            if not waiting:
                break
            # Only rounds without progress count as attempts: a bus that takes half of a large pack is alive.
            attempt = attempt + 1 if report.delivered == before else 0
            metrics.PUBLISHER_RETRIES.labels(self._backend.name).inc(len(waiting))
            if attempt >= self._policy.max_attempts or self._clock() - started > self._policy.max_elapsed_s:
                report.left = waiting
                break
            await self._sleep(self._policy.delay(attempt))
        return report

    async def _round(self, events: Sequence[EventHead], report: Report) -> list[EventHead]:
        """Sends every event once, except those behind a failed one of the same key; returns what is to be sent again, in order."""
        again: list[EventHead] = []
        held: set[tuple[str, str]] = set()
        for batch in self._batches(events):
            ready = [event for event in batch if key_of(event) not in held]
            outcomes = dict(zip(map(id, ready), await self._send(ready), strict=True))
            for event in batch:
                outcome = outcomes.get(id(event))
                if outcome is None or outcome.status is Status.RETRY:
                    held.add(key_of(event))
                    again.append(event)
                    report.reason = outcome.reason if outcome else report.reason
                elif outcome.status is Status.REFUSED:
                    report.refused.append((event, outcome.reason))
                else:
                    report.delivered += 1
        return again

    async def _send(self, events: list[EventHead]) -> list[Outcome]:
        if not events:
            return []
        started = self._clock()
        outcomes = await self._backend.publish(events)
        metrics.PUBLISHER_BATCHES.labels(self._backend.name).inc()
        metrics.PUBLISHER_PUBLISH_SECONDS.labels(self._backend.name).observe(self._clock() - started)
        return outcomes

    def _batches(self, events: Sequence[EventHead]) -> Iterator[Sequence[EventHead]]:
        for start in range(0, len(events), self._max_batch):
            yield events[start : start + self._max_batch]

    def _fits(self, event: EventHead, report: Report) -> bool:
        if len(event.data) <= self._limits.event_bytes:
            return True
        report.refused.append((event, f"{len(event.data)} bytes, the bus takes {self._limits.event_bytes}"))
        return False
