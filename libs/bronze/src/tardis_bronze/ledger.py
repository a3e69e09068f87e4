"""Keeps count of what arrived: which events are new, which are repeats, what is missing, what came out of order.

A series is one (stream_id, exchange, symbol); the producer numbers its events 1, 2, 3, ... Order and loss are judged within it.
"""

from __future__ import annotations

from bisect import bisect_right
from enum import Enum
from typing import NamedTuple, Protocol


class Tracked(Protocol):
    """An EventHead, or a NormalizedEvent."""

    @property
    def stream_id(self) -> str: ...
    @property
    def exchange(self) -> str: ...
    @property
    def symbol(self) -> str: ...
    @property
    def stream_seq(self) -> int: ...
    @property
    def event_id(self) -> bytes: ...


class Verdict(Enum):
    NEW = "new"  # the next one of its series
    AHEAD = "ahead"  # new, but events before it have not been seen (yet)
    REORDERED = "reordered"  # new, but an event behind it was seen earlier
    REPEAT = "repeat"  # seen before: drop it
    STALE = "stale"  # too old to tell whether it was seen: its hole has been given up

    @property
    def fresh(self) -> bool:
        """Whether a consumer that wants each event once should take it."""
        return self in (Verdict.NEW, Verdict.AHEAD, Verdict.REORDERED)


class SeriesReport(NamedTuple):
    stream_id: str
    exchange: str
    symbol: str
    last: int  # greatest sequence number seen
    lost: int
    missing: tuple[tuple[int, int], ...]  # ranges, both ends included; older ones may have been given up

    def __str__(self) -> str:
        parts = [str(a) if a == b else f"{a}-{b}" for a, b in self.missing]
        older = self.lost - sum(b - a + 1 for a, b in self.missing)
        if older:
            parts.append(f"{older} given up")
        symbol = self.symbol or "(no symbol)"
        return f"{self.exchange} {symbol} of {self.stream_id}: {self.lost} of {self.last} lost: {', '.join(parts)}"


class Report(NamedTuple):
    seen: int  # all calls of `see`
    fresh: int
    repeated: int
    reordered: int
    stale: int
    lost: int
    series: int
    damaged: tuple[SeriesReport, ...]  # the series with something missing

    def __str__(self) -> str:
        head = (
            f"{self.seen} events in {self.series} series: {self.fresh} new, {self.repeated} repeated, "
            f"{self.reordered} reordered, {self.stale} stale, {self.lost} lost"
        )
        return "\n".join([head, *(f"  {series}" for series in self.damaged)])


class _Series:
    """Everything from `first` to `last` was seen, except the holes: sorted ranges without overlap."""

    __slots__ = ("first", "given_up", "holes", "last")

    def __init__(self, first: int) -> None:
        self.first = first
        self.last = first - 1
        self.holes: list[tuple[int, int]] = []
        self.given_up = 0

    def place(self, seq: int, max_holes: int) -> Verdict:
        if seq == self.last + 1:
            self.last = seq
            return Verdict.NEW
        if seq > self.last:
            self.holes.append((self.last + 1, seq - 1))
            self.last = seq
            self._shorten(max_holes)
            return Verdict.AHEAD
        if seq < self.first:
            return Verdict.STALE
        return self._fill(seq, max_holes)

    def _fill(self, seq: int, max_holes: int) -> Verdict:
        at = bisect_right(self.holes, seq, key=lambda hole: hole[0]) - 1
        if at < 0 or seq > self.holes[at][1]:
            return Verdict.REPEAT
        begin, end = self.holes[at]
        self.holes[at : at + 1] = [(a, b) for a, b in ((begin, seq - 1), (seq + 1, end)) if a <= b]
        self._shorten(max_holes)
        return Verdict.REORDERED

    def _shorten(self, max_holes: int) -> None:
        """Gives the oldest holes up; below `first` nothing is known any more."""
        while len(self.holes) > max_holes:
            begin, end = self.holes.pop(0)
            self.given_up += end - begin + 1
            self.first = end + 1

    @property
    def lost(self) -> int:
        return self.given_up + sum(end - begin + 1 for begin, end in self.holes)


class Ledger:
    """Memory is bounded: per series `max_holes` ranges, and the ids of the last `max_ids` events.

    `from_start=False` is for a consumer that joins later: the first event it sees of a series begins the count.
    """

    def __init__(self, *, from_start: bool = True, max_holes: int = 1024, max_ids: int = 65_536) -> None:
        self._from_start = from_start
        self._max_holes = max_holes
        self._max_ids = max_ids
        self._series: dict[tuple[str, str, str], _Series] = {}
        self._ids: dict[tuple[str, bytes], None] = {}
        self._counts = dict.fromkeys(Verdict, 0)

    def see(self, event: Tracked) -> Verdict:
        known = self._is_known(event.stream_id, event.event_id)
        verdict = self._place(event) if event.stream_seq else Verdict.NEW
        # An exchange may send a message twice: such twins have numbers of their own, but one id.
        if known and verdict.fresh:
            verdict = Verdict.REPEAT
        self._counts[verdict] += 1
        return verdict

    def forget(self, stream_id: str) -> None:
        """Frees what is known of a stream that has ended; its losses leave the report."""
        for key in [key for key in self._series if key[0] == stream_id]:
            del self._series[key]

    def report(self) -> Report:
        count = self._counts
        damaged = tuple(
            SeriesReport(*key, series.last, series.lost, tuple(series.holes)) for key, series in self._series.items() if series.lost
        )
        return Report(
            seen=sum(count.values()),
            fresh=sum(count[verdict] for verdict in Verdict if verdict.fresh),
            repeated=count[Verdict.REPEAT],
            reordered=count[Verdict.REORDERED],
            stale=count[Verdict.STALE],
            lost=sum(series.lost for series in damaged),
            series=len(self._series),
            damaged=damaged,
        )

    def _place(self, event: Tracked) -> Verdict:
        key = event.stream_id, event.exchange, event.symbol
        series = self._series.get(key)
        if series is None:
            series = self._series[key] = _Series(1 if self._from_start else event.stream_seq)
        return series.place(event.stream_seq, self._max_holes)

    def _is_known(self, stream_id: str, event_id: bytes) -> bool:
        if not event_id:
            return False
        key = stream_id, event_id
        if key in self._ids:
            return True
        self._ids[key] = None
        if len(self._ids) > self._max_ids:
            del self._ids[next(iter(self._ids))]
        return False
