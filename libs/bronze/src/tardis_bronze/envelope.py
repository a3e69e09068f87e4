"""What the events of a stream share: the parts of the envelope that are written once and copied into every event."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from lakehouse.bronze.v1.enums_pb2 import ORIGIN_REALTIME
from tardis_market.records import BookChange, Disconnect, Record

from .identity import lane_of
from .plan import Plan
from .wire import int_field, map_field, text_field


class LaneEvents(NamedTuple):
    """Events of one lane: each with its length before it."""

    lane: int
    count: int  # type: ignore[assignment]  # hides tuple.count, which nobody asks of it
    data: bytes


class Envelope:
    """Fields by their number: 1-3 `head`, 4 and 5 the times, 6 `origin`, 10 `meta`, 11 the id, 12 `stream`, 13 the sequence."""

    def __init__(self, *, source: str, origin: int, stream_id: str, meta: Mapping[str, str], lanes: int) -> None:
        if lanes < 1:
            raise ValueError(f"lanes must be 1 or more, not {lanes}")
        self.lanes = lanes
        # Live, the exchange's own id stands in for the local time, which two receivers of one message never share.
        self.live = origin == ORIGIN_REALTIME
        self.origin = int_field(6, origin)
        self.stream = text_field(12, stream_id)
        self._source = text_field(1, source)
        self._meta = dict(meta)

    def head(self, exchange: str, symbol: str | None) -> bytes:
        return self._source + text_field(2, exchange) + text_field(3, symbol)

    def lane(self, exchange: str, symbol: str | None) -> int:
        return lane_of(exchange, symbol, self.lanes)

    def meta(self, plan: Plan, record: Record) -> bytes:
        """The stream's meta and the event's own, which wins."""
        entries = self._meta | {"data_type": plan.table.type}
        if plan.named:
            entries["data_name"] = record.name  # type: ignore[attr-defined]
        if isinstance(record, BookChange):
            entries["is_snapshot"] = "true" if record.is_snapshot else "false"
        if isinstance(record, Disconnect) and record.symbols is not None:
            entries["symbols"] = ",".join(record.symbols)
        return map_field(10, entries)
