"""Bronze events for people and for programs."""

from __future__ import annotations

import json
from typing import Any

from google.protobuf.json_format import MessageToDict

from lakehouse.bronze.v1.normalized_event_pb2 import NormalizedEvent

_COLOURS = {"trade": 36, "book_change": 34, "error": 31, "disconnect": 33}


def as_json(event: NormalizedEvent) -> str:
    """One line: the event with the names of its schema, ids in hexadecimal."""
    fields: dict[str, Any] = MessageToDict(event, preserving_proto_field_name=True)
    fields["event_id"] = event.event_id.hex()
    fields["stream_seq"] = event.stream_seq
    return json.dumps(fields, separators=(",", ":"), ensure_ascii=False)


def for_terminal(event: NormalizedEvent) -> str:
    case = event.WhichOneof("payload") or "no payload"
    time = event.local_ts.ToJsonString()[11:-1].ljust(15)[:15]
    head = f"{time} {event.exchange:9s} {_printable(event.symbol):12s} {event.stream_seq:8d} {event.event_id.hex()[:12]}"
    return f"\x1b[2m{head}\x1b[0m \x1b[{_COLOURS.get(case, 35)}m{case}\x1b[0m {_printable(_payload(event, case))}"


def _payload(event: NormalizedEvent, case: str) -> str:
    match case:
        case "trade":
            side = {1: "buy", 2: "sell"}.get(event.trade.side, "?")
            return f"{side} {event.trade.qty_str} @ {event.trade.price_str}"
        case "book_change":
            change = event.book_change
            kind = "snapshot" if change.is_snapshot else "update"
            levels = " ".join(
                f"{name} {level.qty_str}@{level.price_str}"
                for name, side in (("bid", change.bids), ("ask", change.asks))
                for level in side[:3]
            )
            more = len(change.bids) + len(change.asks)
            return f"{kind} of {more}: {levels}"
        case _ if event.WhichOneof("payload"):
            return json.dumps(MessageToDict(getattr(event, case), preserving_proto_field_name=True), ensure_ascii=False)
        case _:
            return ""


def _printable(text: str) -> str:
    """Data must not be able to drive the terminal."""
    return "".join(character if character.isprintable() else "�" for character in text)
