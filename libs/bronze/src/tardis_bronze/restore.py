"""An event back to the record it was made from.

What an event does not carry, and so does not come back:
- how many digits a time had: local times come back in units of 100 ns, others in the coarsest unit that holds them exactly;
- the form of a decimal (it comes back as text; in trade bars as float) and the exchange's layout of levels (a list of tuples);
- an unknown choice is "unknown" whatever its text was;
- numbers that no integer field can hold (a depth of 2.5) are 0: the name has them;
- of a quote, whatever the name tells, and `repeat`.
"""

from __future__ import annotations

from typing import Any

from google.protobuf.timestamp_pb2 import Timestamp

from lakehouse.bronze.v1.normalized_event_pb2 import NormalizedEvent
from tardis_market import records as R
from tardis_market.tables import QUOTE, Kind
from tardis_market.times import to_ticks

from .errors import EventError
from .plan import PLANS, Plan, Step


def to_record(event: NormalizedEvent) -> R.Record:
    """Raises EventError for an event without a payload that this code knows."""
    case = event.WhichOneof("payload")
    if case is None:
        raise EventError("the event has no payload")
    message = getattr(event, case)
    plan = PLANS[event.DESCRIPTOR.fields_by_name[case].number]
    values: dict[str, Any] = {
        "exchange": event.exchange,
        "symbol": event.symbol or None,
        "local_timestamp": _time(event.local_ts, finest=True),
    }
    if plan.named:
        values["name"] = event.meta.get("data_name", "")
    for step in plan.steps:
        values[step.attr] = _value(plan, step, message)
    values |= _extras(plan, event)
    return plan.table.record(**values)


def _value(plan: Plan, step: Step, message: Any) -> Any:
    if step.kind is Kind.TOP:
        return _rendered([_pair(message, step.number)], 1)
    field = message.DESCRIPTOR.fields_by_number[step.number]
    value = getattr(message, field.name)
    if field.has_presence and not message.HasField(field.name):
        return None
    match step.kind:
        case Kind.NUMBER if plan.table.record is R.TradeBar:
            return float(value)
        case Kind.TIME:
            return _time(value)
        case Kind.CHOICE:
            return next((text for text, number in step.choices.items() if number == value), "unknown")
        case Kind.LEVELS:
            return [_pair(level, 1) for level in value]
        case Kind.RENDERED:
            return _rendered([_pair(level, 1) for level in value], message.depth)
    return value


def _extras(plan: Plan, event: NormalizedEvent) -> dict[str, Any]:
    """What stands beside the payload, or is told by the payload case."""
    record = plan.table.record
    if record is R.Disconnect and "symbols" in event.meta:
        return {"symbols": event.meta["symbols"].split(",") if event.meta["symbols"] else []}
    if plan.table is QUOTE:
        return {"depth": 1, "grouping": None}
    if record is R.BookSnapshot and plan.table.case_name == "bookSnapshot":
        return {"grouping": None}
    if record is R.TradeBar and event.trade_bar.interval_ms == 0:
        return {"interval_ms": None}
    return {}


def _pair(message: Any, first: int) -> tuple[str | None, str | None]:
    names = (message.DESCRIPTOR.fields_by_number[number].name for number in (first, first + 1))
    price, amount = (getattr(message, name) if message.HasField(name) else None for name in names)
    return price, amount


def _rendered(pairs: list[tuple[str | None, str | None]], depth: int) -> bytes:
    """As book snapshots keep their levels; {} stands for one that is not there."""
    levels = [f'{{"price":{price or "null"},"amount":{amount or "null"}}}' for price, amount in pairs if price or amount]
    return ",".join(levels + ["{}"] * (depth - len(levels))).encode()


def _time(stamp: Timestamp, *, finest: bool = False) -> int:
    """The size of a time tells its unit, so a unit will do only if the number, read back, is the same time."""
    ticks = stamp.seconds * 10_000_000 + stamp.nanos // 100
    units = (ticks // 10_000, ticks // 10, ticks)
    return next((time for time in (reversed(units) if finest else units) if to_ticks(time) == ticks), units[0])
