"""Bronze events for people and for programs."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from lakehouse.bronze.v1.normalized_event_pb2 import NormalizedEvent

_COLOURS = {"trade": 36, "book_change": 34, "error": 31, "disconnect": 33}


def as_json(event: NormalizedEvent) -> str:
    """One line: the event with the names of its schema, ids in hexadecimal, numbers as numbers."""
    return json.dumps(_fields(event), separators=(",", ":"), ensure_ascii=False)


def _fields(message: Message) -> dict[str, Any]:
    # Several times faster than protobuf's own JSON, which looks every field up again for every message.
    return {field.name: _converter(field)(value) for field, value in message.ListFields()}


@cache
def _converter(field: FieldDescriptor) -> Callable[[Any], Any]:
    if field.message_type is not None and field.message_type.GetOptions().map_entry:
        return dict
    one = _single(field)
    return (lambda values: [one(value) for value in values]) if field.is_repeated else one


def _single(field: FieldDescriptor) -> Callable[[Any], Any]:
    if field.message_type is not None:
        timestamp = field.message_type.full_name == "google.protobuf.Timestamp"
        return (lambda time: time.ToJsonString()) if timestamp else _fields
    if field.enum_type is not None:
        names = {number: value.name for number, value in field.enum_type.values_by_number.items()}
        return lambda number: names.get(number, number)
    return bytes.hex if field.type == FieldDescriptor.TYPE_BYTES else lambda value: value


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
            return json.dumps(_fields(getattr(event, case)), ensure_ascii=False)
        case _:
            return ""


def _printable(text: str) -> str:
    """Data must not be able to drive the terminal."""
    return "".join(character if character.isprintable() else "�" for character in text)
