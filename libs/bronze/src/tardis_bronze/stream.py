"""Records to Bronze events, in plain Python."""

from __future__ import annotations

from collections.abc import Mapping

from tardis_market.records import Record
from tardis_market.tables import payload_table

from .envelope import Envelope, LaneEvents
from .identity import event_id, id_prefix
from .payload import nanoseconds, payload
from .plan import PLANS
from .wire import bytes_field, int_field, sized, timestamp


class _Series:
    """One exchange and symbol of a stream."""

    __slots__ = ("head", "lane", "seq")

    def __init__(self, head: bytes, lane: int) -> None:
        self.head = head
        self.lane = lane
        self.seq = 0


class BronzeStream:
    """Encodes the records of one request or feed; counts `stream_seq` per exchange and symbol.

    When a record cannot be encoded, `encode` raises and the stream is as before the call: no sequence number is lost.
    """

    def __init__(self, *, source: str, origin: int, stream_id: str, meta: Mapping[str, str], lanes: int = 8) -> None:
        self._envelope = Envelope(source=source, origin=origin, stream_id=stream_id, meta=meta, lanes=lanes)
        self._series: dict[tuple[str, str], _Series] = {}

    def encode(self, records: list[Record], ingest_ns: int) -> list[LaneEvents]:
        """-> the lanes that got events, by rising lane; records keep their order within a lane."""
        ingest = bytes_field(5, timestamp(ingest_ns))
        lanes: dict[int, list[bytes]] = {}
        begun: list[_Series] = []
        try:
            for record in records:
                series = self._series_of(record.exchange, record.symbol)
                series.seq += 1
                begun.append(series)
                lanes.setdefault(series.lane, []).append(sized(self._event(record, series, ingest)))
        except BaseException:
            for series in begun:
                series.seq -= 1
            raise
        return [LaneEvents(lane, len(events), b"".join(events)) for lane, events in sorted(lanes.items())]

    def _series_of(self, exchange: str, symbol: str | None) -> _Series:
        key = exchange, symbol or ""
        found = self._series.get(key)
        if found is None:
            envelope = self._envelope
            found = self._series[key] = _Series(envelope.head(exchange, symbol), envelope.lane(exchange, symbol))
        return found

    def _event(self, record: Record, series: _Series, ingest: bytes) -> bytes:
        envelope = self._envelope
        plan = PLANS[payload_table(record).case]
        body, identity = payload(plan, record)
        local_ns = nanoseconds(record.local_timestamp)  # type: ignore[attr-defined]
        own_id = record.id if plan.numbered else None  # type: ignore[attr-defined]
        ticks = 0 if envelope.live and own_id is not None else local_ns // 100
        name = record.name if plan.named else ""  # type: ignore[attr-defined]
        prefix = id_prefix(record.exchange, record.symbol, plan.table.case, name)
        return b"".join(
            (
                series.head,
                bytes_field(4, timestamp(local_ns)),
                ingest,
                envelope.origin,
                envelope.meta(plan, record),
                bytes_field(11, event_id(prefix, ticks, identity, record.repeat)),  # type: ignore[attr-defined]
                envelope.stream,
                int_field(13, series.seq),
                bytes_field(plan.table.case, body),
            )
        )
