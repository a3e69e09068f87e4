"""Old and new programs read each other's events. "Old" is the schema as it was first published, built here at run time."""

from __future__ import annotations

from typing import Any

import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory, timestamp_pb2
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from lakehouse.bronze.v1.normalized_event_pb2 import NormalizedEvent

CASES = [field.name for field in NormalizedEvent.DESCRIPTOR.oneofs_by_name["payload"].fields]

SNAPSHOT = (
    "uint32 depth=1; repeated Level bids=2; repeated Level asks=3; Timestamp event_ts=10; uint32 grouping=11; "
    "uint32 interval_ms=12; bool remove_crossed_levels=13; int64 sequence=14"
)
OLD_TEXT = {
    "Level": "string price_str=1; string qty_str=2",
    "MetaEntry": "string key=1; string value=2",
    "Trade": "string trade_id=1; string price_str=2; string qty_str=3; Side side=4; int64 sequence=5; Timestamp event_ts=10",
    "BookChange": "Side side=1; Action action=2; string price_str=3; string qty_str=4; int32 level=5; int64 sequence=6; "
    "Timestamp event_ts=10",
    "BookSnapshot": SNAPSHOT,
    "GroupedBookSnapshot": SNAPSHOT,
    "TradeBar": "BarKind kind=1; uint64 interval=2; uint32 interval_ms=3; string open_str=4; string high_str=5; "
    "string low_str=6; string close_str=7; string volume_str=8; uint64 trade_count=9; Timestamp event_ts=10; Timestamp end_ts=11",
    "Quote": "string bid_price_str=1; string bid_qty_str=2; string ask_price_str=3; string ask_qty_str=4; Timestamp event_ts=10",
    "DerivativeTicker": "string mark_price_str=1; string index_price_str=2; string funding_rate_str=3; Timestamp event_ts=10",
    "Liquidation": "Side side=1; string price_str=2; string qty_str=3; string order_id=4; Timestamp event_ts=10",
    "OptionSummary": "string iv_str=1; string delta_str=2; string gamma_str=3; string theta_str=4; string vega_str=5; "
    "string oi_str=6; Timestamp event_ts=10",
    "BookTicker": "string best_bid_price_str=1; string best_bid_qty_str=2; string best_ask_price_str=3; "
    "string best_ask_qty_str=4; Timestamp event_ts=10",
    "ControlError": "string details=1; uint32 subsequent_errors=2; ErrorCode code=3",
    "ControlDisconnect": "string reason=1; uint32 close_code=2",
    "NormalizedEvent": "string source=1; string exchange=2; string symbol=3; Timestamp local_ts=4; Timestamp ingest_ts=5; "
    "Origin origin=6; repeated MetaEntry meta=10; Trade trade=100; BookChange book_change=101; BookSnapshot book_snapshot=102; "
    "Quote quote=103; DerivativeTicker derivative_ticker=104; Liquidation liquidation=105; OptionSummary option_summary=106; "
    "BookTicker book_ticker=107; GroupedBookSnapshot grouped_book_snapshot=108; TradeBar trade_bar=109; ControlError error=150; "
    "ControlDisconnect disconnect=151",
}


def parsed(text: str) -> dict[str, tuple[int, str, bool]]:
    """name -> number, type, repeated"""
    fields = {}
    for part in text.split("; "):
        kind, number = part.split("=")
        *repeated, kind, name = kind.split()
        fields[name] = (int(number), kind, bool(repeated))
    return fields


OLD = {name: parsed(text) for name, text in OLD_TEXT.items()}
NESTED = {"Level": ("BookSnapshot", "GroupedBookSnapshot"), "MetaEntry": ("NormalizedEvent",)}
OLD_ENUMS = {
    "Side": ["SIDE_UNSPECIFIED", "SIDE_BUY", "SIDE_SELL"],
    "Action": ["ACTION_UNSPECIFIED", "ACTION_UPSERT", "ACTION_DELETE"],
    "Origin": ["ORIGIN_UNSPECIFIED", "ORIGIN_REALTIME", "ORIGIN_REPLAY", "ORIGIN_ARCHIVE"],
    "BarKind": ["BAR_KIND_UNSPECIFIED", "BAR_KIND_TICK", "BAR_KIND_TIME", "BAR_KIND_VOLUME"],
    "ErrorCode": ["ERROR_CODE_UNSPECIFIED", "WS_CONNECT", "WS_SEND", "SOURCE_AUTH", "SOURCE_RATE_LIMIT"],
}
F = descriptor_pb2.FieldDescriptorProto


def add_fields(message: descriptor_pb2.DescriptorProto, fields: dict[str, tuple[int, str, bool]]) -> None:
    package = ".lakehouse.bronze.v1."
    for name, (number, kind, repeated) in fields.items():
        field = message.field.add(name=name, number=number, label=F.LABEL_REPEATED if repeated else F.LABEL_OPTIONAL)
        if kind == "Timestamp":
            field.type, field.type_name = F.TYPE_MESSAGE, ".google.protobuf.Timestamp"
        elif kind in OLD_ENUMS:
            field.type, field.type_name = F.TYPE_ENUM, package + kind
        elif kind in OLD:
            field.type, field.type_name = F.TYPE_MESSAGE, package + (f"{message.name}.{kind}" if kind in NESTED else kind)
        else:
            field.type = getattr(F, f"TYPE_{kind.upper()}")
        if number >= 100:
            field.oneof_index = 0


def old_schema() -> type[Message]:
    """In a pool of its own: two schemas of one name cannot share one."""
    file = descriptor_pb2.FileDescriptorProto(name="old.proto", package="lakehouse.bronze.v1", syntax="proto3")
    file.dependency.append("google/protobuf/timestamp.proto")
    for name, values in OLD_ENUMS.items():
        enum = file.enum_type.add(name=name)
        for number, value in enumerate(values):
            enum.value.add(name=value, number=number)
    for name in OLD.keys() - NESTED.keys():
        message = file.message_type.add(name=name)
        add_fields(message, OLD[name])
        for inner in (inner for inner, owners in NESTED.items() if name in owners):
            nested = message.nested_type.add(name=inner)
            add_fields(nested, OLD[inner])
            nested.options.map_entry = inner == "MetaEntry"
        if name == "NormalizedEvent":
            message.oneof_decl.add(name="payload")
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(timestamp_pb2.DESCRIPTOR.serialized_pb)
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("lakehouse.bronze.v1.NormalizedEvent"))


OldEvent: Any = old_schema()
VALUES: dict[int, Any] = {
    FieldDescriptor.CPPTYPE_STRING: "text",
    FieldDescriptor.CPPTYPE_BOOL: True,
    FieldDescriptor.CPPTYPE_INT32: -7,
    FieldDescriptor.CPPTYPE_INT64: -(2**40),
    FieldDescriptor.CPPTYPE_UINT32: 2**32 - 1,
    FieldDescriptor.CPPTYPE_UINT64: 2**64 - 1,
    FieldDescriptor.CPPTYPE_ENUM: 2,
}


def fill(message: Any, payload: str | None = None) -> None:
    """Sets every field that there is, by reflection, so that a field added later is covered without being named."""
    for field in message.DESCRIPTOR.fields:
        if field.containing_oneof is not None and field.containing_oneof.name == "payload" and field.name != payload:
            continue
        if field.message_type is not None and field.message_type.GetOptions().map_entry:
            getattr(message, field.name)["key"] = "value"
        elif field.message_type is not None:
            target = getattr(message, field.name)
            fill(target.add() if field.is_repeated else target)
        elif field.type == FieldDescriptor.TYPE_BYTES:
            setattr(message, field.name, bytes(range(16)))
        elif field.full_name.startswith("google.protobuf.Timestamp."):
            setattr(message, field.name, 123_456_700)
        else:
            setattr(message, field.name, VALUES[field.cpp_type])


def full(event_class: Any, payload: str) -> Any:
    event = event_class()
    fill(event, payload)
    return event


def assert_all_set(message: Any) -> None:
    for field in message.DESCRIPTOR.fields:
        if field.containing_oneof is None or field.containing_oneof.name != "payload":
            assert any(set_field.name == field.name for set_field, _ in message.ListFields()), field.full_name


@pytest.mark.parametrize("payload", CASES)
def test_every_field_of_a_payload_survives_a_round_trip(payload: str) -> None:
    event = full(NormalizedEvent, payload)
    back = NormalizedEvent.FromString(event.SerializeToString())
    assert back == event
    assert back.WhichOneof("payload") == payload
    assert_all_set(back)
    assert_all_set(getattr(back, payload))


@pytest.mark.parametrize("payload", CASES)
def test_a_new_reader_understands_all_that_an_old_writer_wrote(payload: str) -> None:
    old = full(OldEvent, payload)
    new = NormalizedEvent.FromString(old.SerializeToString())
    assert new.WhichOneof("payload") == payload
    assert shared(new) == shared(old)
    # Nothing was unknown: without unknown fields the event is as long as before.
    before = len(new.SerializeToString())
    new.DiscardUnknownFields()
    assert len(new.SerializeToString()) == before


@pytest.mark.parametrize("payload", CASES)
def test_an_old_reader_keeps_what_it_does_not_know(payload: str) -> None:
    new = full(NormalizedEvent, payload)
    old = OldEvent.FromString(new.SerializeToString())
    assert old.WhichOneof("payload") == payload
    assert shared(old) == shared(new)
    assert NormalizedEvent.FromString(old.SerializeToString()) == new


def shared(message: Any, kind: str = "NormalizedEvent") -> dict[str, object]:
    """The fields that both schemas have, as plain values."""
    values: dict[str, object] = {}
    for name, (number, inner, _) in OLD[kind].items():
        if number >= 100 and message.WhichOneof("payload") != name:
            continue
        value = getattr(message, name)
        if inner == "MetaEntry":
            values[name] = dict(value)
        elif inner == "Level":
            values[name] = [shared(level, "Level") for level in value]
        elif inner == "Timestamp":
            values[name] = (value.seconds, value.nanos)
        else:
            values[name] = shared(value, inner) if inner in OLD else value
    return values


def test_unknown_enum_values_survive() -> None:
    event: Any = NormalizedEvent(origin=99)  # type: ignore[arg-type]
    event.trade.side = 77
    back = NormalizedEvent.FromString(OldEvent.FromString(event.SerializeToString()).SerializeToString())
    assert (back.origin, back.trade.side) == (99, 77)


def test_an_unknown_payload_case_is_kept() -> None:
    newer = NormalizedEvent(exchange="bitmex").SerializeToString() + b"\xf2\x06\x02hi"  # field 110
    event = NormalizedEvent.FromString(newer)
    assert event.WhichOneof("payload") is None
    assert event.SerializeToString() == newer
