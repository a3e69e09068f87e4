"""Counts of one delivery that close: received = published + dead-lettered + given back, and in flight until then."""

from __future__ import annotations

from typing import Self

from tardis_telemetry import catalogue as metrics


class Tally:
    """What is neither published nor set aside when the block ends comes again, whether we gave it back or were cut off."""

    def __init__(self, backend: str, events: int, *, repeated: bool) -> None:
        self._backend, self._events, self._repeated, self._settled = backend, events, repeated, 0

    def __enter__(self) -> Self:
        metrics.PUBLISHER_EVENTS_RECEIVED.labels(self._backend).inc(self._events)
        metrics.PUBLISHER_EVENTS_IN_FLIGHT.labels(self._backend).inc(self._events)
        if self._repeated:
            metrics.PUBLISHER_EVENTS_REPEATED.labels(self._backend).inc(self._events)
        return self

    def __exit__(self, *_: object) -> None:
        metrics.PUBLISHER_EVENTS_IN_FLIGHT.labels(self._backend).dec(self._events)
        metrics.PUBLISHER_EVENTS_GIVEN_BACK.labels(self._backend).inc(self._events - self._settled)

    def published(self, events: int) -> None:
        metrics.PUBLISHER_EVENTS_PUBLISHED.labels(self._backend).inc(events)
        self._settled += events

    def buried(self) -> None:
        """Counted where it is stored."""
        self._settled += 1
