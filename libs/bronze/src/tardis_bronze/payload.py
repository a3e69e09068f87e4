"""A record as the bytes of its payload message, in plain Python: the oracle of the compiled half, and its stand-in."""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from typing import Any

from msgspec import Raw
from msgspec.json import Decoder

from tardis_market.levels import each_level
from tardis_market.numbers import decimal_text
from tardis_market.records import Decimal, Record
from tardis_market.tables import Kind
from tardis_market.times import EARLIEST, LATEST, to_ns

from .plan import Plan, Step
from .wire import bytes_field, sized, timestamp, varint

_rendered_levels = Decoder(list[dict[str, Raw]]).decode
_NOT_FINITE = {"inf": b"Infinity", "-inf": b"-Infinity", "nan": b"NaN"}


def exact(value: Decimal) -> bytes | None:
    """Every digit as the exchange wrote it; a float by JavaScript's rule. None: no value, which JSON writes as null."""
    if value is None:
        return None
    if isinstance(value, float) and not isfinite(value):
        return _NOT_FINITE[str(value)]
    text = decimal_text(value)
    return None if text == "null" else text.encode()


def nanoseconds(time: int) -> int:
    if type(time) is not int:
        raise TypeError("a time must be an int")
    if not EARLIEST <= time < LATEST:
        raise ValueError("time out of range")
    return to_ns(time)


def rendered_pairs(side: bytes) -> list[tuple[bytes | None, bytes | None]]:
    """Levels that are JSON text already; {} stands for one that is not there."""
    return [(exact(level.get("price")), exact(level.get("amount"))) for level in _rendered_levels(b"[" + side + b"]") if level]


def _text(step: Step, value: Any, record: Any) -> bytes:
    return b"" if value is None else step.tag + sized(decimal_text(value).encode())


def _number(step: Step, value: Any, record: Any) -> bytes:
    text = exact(value)
    return b"" if text is None else step.tag + sized(text)


def _integer(step: Step, value: Any, record: Any) -> bytes:
    if value is None or not isfinite(value) or value != int(value) or not 0 < value <= step.largest:
        return b""
    return step.tag + varint(int(value))


def _time(step: Step, value: Any, record: Any) -> bytes:
    return b"" if value is None else step.tag + sized(timestamp(nanoseconds(value)))


def _flag(step: Step, value: Any, record: Any) -> bytes:
    return step.tag + b"\1" if value else b""


def _choice(step: Step, value: Any, record: Any) -> bytes:
    number = step.choices.get(value)
    return step.tag + varint(number) if number else b""


def _level(price: bytes | None, amount: bytes | None, first: int = 1) -> bytes:
    parts = ((first, price), (first + 1, amount))
    return b"".join([bytes_field(number, text) for number, text in parts if text is not None])


def _levels(step: Step, value: Any, record: Any) -> bytes:
    if not isinstance(value, list):
        bytes(value).decode()  # a string that is not UTF-8 would make the whole event unreadable
    return b"".join([step.tag + sized(_level(exact(price), exact(amount))) for price, amount in each_level(value, record.layout)])


def _rendered(step: Step, value: Any, record: Any) -> bytes:
    return b"".join([step.tag + sized(_level(*pair)) for pair in rendered_pairs(value)])


def _top(step: Step, value: Any, record: Any) -> bytes:
    pairs = rendered_pairs(value)
    return _level(*pairs[0], first=step.number) if pairs else b""


_WRITERS: dict[Kind, Callable[[Step, Any, Any], bytes]] = {
    Kind.TEXT: _text,
    Kind.NUMBER: _number,
    Kind.INTEGER: _integer,
    Kind.TIME: _time,
    Kind.FLAG: _flag,
    Kind.CHOICE: _choice,
    Kind.LEVELS: _levels,
    Kind.RENDERED: _rendered,
    Kind.TOP: _top,
}


def payload(plan: Plan, record: Record) -> tuple[bytes, bytes]:
    """-> the payload message, and those of its fields that make up the event id."""
    parts = [(step.identity, _WRITERS[step.kind](step, getattr(record, step.attr), record)) for step in plan.steps]
    return b"".join([part for _, part in parts]), b"".join([part for identity, part in parts if identity])
