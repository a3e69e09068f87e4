"""Field numbers are for ever. Every one stands here literally: renumber, retype or drop a field and this goes red."""

from __future__ import annotations

import pytest
from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor

from lakehouse.bronze.v1 import control_pb2, enums_pb2, market_pb2, normalized_event_pb2

FILES = (control_pb2, enums_pb2, market_pb2, normalized_event_pb2)
T = "google.protobuf.Timestamp"

MESSAGES: dict[str, dict[str, tuple[int, str]]] = {
    "NormalizedEvent": {
        "source": (1, "string"),
        "exchange": (2, "string"),
        "symbol": (3, "string"),
        "local_ts": (4, T),
        "ingest_ts": (5, T),
        "origin": (6, "Origin"),
        "meta": (10, "repeated NormalizedEvent.MetaEntry"),
        "event_id": (11, "bytes"),
        "stream_id": (12, "string"),
        "stream_seq": (13, "uint64"),
        "trade": (100, "Trade"),
        "book_change": (101, "BookChange"),
        "book_snapshot": (102, "BookSnapshot"),
        "quote": (103, "Quote"),
        "derivative_ticker": (104, "DerivativeTicker"),
        "liquidation": (105, "Liquidation"),
        "option_summary": (106, "OptionSummary"),
        "book_ticker": (107, "BookTicker"),
        "grouped_book_snapshot": (108, "GroupedBookSnapshot"),
        "trade_bar": (109, "TradeBar"),
        "error": (150, "ControlError"),
        "disconnect": (151, "ControlDisconnect"),
    },
    "NormalizedEvent.MetaEntry": {"key": (1, "string"), "value": (2, "string")},
    "Trade": {
        "trade_id": (1, "optional string"),
        "price_str": (2, "optional string"),
        "qty_str": (3, "optional string"),
        "side": (4, "Side"),
        "sequence": (5, "int64"),
        "event_ts": (10, T),
    },
    "BookChange": {
        "side": (1, "Side"),
        "action": (2, "Action"),
        "price_str": (3, "optional string"),
        "qty_str": (4, "optional string"),
        "level": (5, "int32"),
        "sequence": (6, "int64"),
        "event_ts": (10, T),
        "bids": (20, "repeated BookChange.Level"),
        "asks": (21, "repeated BookChange.Level"),
        "is_snapshot": (22, "bool"),
    },
    "BookChange.Level": {"price_str": (1, "optional string"), "qty_str": (2, "optional string")},
    **{
        name: {
            "depth": (1, "uint32"),
            "bids": (2, f"repeated {name}.Level"),
            "asks": (3, f"repeated {name}.Level"),
            "event_ts": (10, T),
            "grouping": (11, "uint32"),
            "interval_ms": (12, "uint32"),
            "remove_crossed_levels": (13, "bool"),
            "sequence": (14, "int64"),
        }
        for name in ("BookSnapshot", "GroupedBookSnapshot")
    },
    "BookSnapshot.Level": {"price_str": (1, "optional string"), "qty_str": (2, "optional string")},
    "GroupedBookSnapshot.Level": {"price_str": (1, "optional string"), "qty_str": (2, "optional string")},
    "TradeBar": {
        "kind": (1, "BarKind"),
        "interval": (2, "uint64"),
        "interval_ms": (3, "uint32"),
        "open_str": (4, "optional string"),
        "high_str": (5, "optional string"),
        "low_str": (6, "optional string"),
        "close_str": (7, "optional string"),
        "volume_str": (8, "optional string"),
        "trade_count": (9, "uint64"),
        "event_ts": (10, T),
        "end_ts": (11, T),
        "buy_volume_str": (12, "optional string"),
        "sell_volume_str": (13, "optional string"),
        "vwap_str": (14, "optional string"),
        "close_ts": (15, T),
    },
    "Quote": {
        "bid_price_str": (1, "optional string"),
        "bid_qty_str": (2, "optional string"),
        "ask_price_str": (3, "optional string"),
        "ask_qty_str": (4, "optional string"),
        "event_ts": (10, T),
        "interval_ms": (11, "uint32"),
    },
    "DerivativeTicker": {
        "mark_price_str": (1, "optional string"),
        "index_price_str": (2, "optional string"),
        "funding_rate_str": (3, "optional string"),
        "last_price_str": (4, "optional string"),
        "open_interest_str": (5, "optional string"),
        "predicted_funding_rate_str": (6, "optional string"),
        "event_ts": (10, T),
        "funding_ts": (11, T),
    },
    "Liquidation": {
        "side": (1, "Side"),
        "price_str": (2, "optional string"),
        "qty_str": (3, "optional string"),
        "order_id": (4, "optional string"),
        "event_ts": (10, T),
    },
    "OptionSummary": {
        "iv_str": (1, "optional string"),
        "delta_str": (2, "optional string"),
        "gamma_str": (3, "optional string"),
        "theta_str": (4, "optional string"),
        "vega_str": (5, "optional string"),
        "oi_str": (6, "optional string"),
        "rho_str": (7, "optional string"),
        "strike_price_str": (8, "optional string"),
        "option_type": (9, "OptionType"),
        "event_ts": (10, T),
        "expiration_ts": (11, T),
        "best_bid_price_str": (12, "optional string"),
        "best_bid_qty_str": (13, "optional string"),
        "best_bid_iv_str": (14, "optional string"),
        "best_ask_price_str": (15, "optional string"),
        "best_ask_qty_str": (16, "optional string"),
        "best_ask_iv_str": (17, "optional string"),
        "last_price_str": (18, "optional string"),
        "mark_price_str": (19, "optional string"),
        "mark_iv_str": (20, "optional string"),
        "underlying_price_str": (21, "optional string"),
        "underlying_index": (22, "optional string"),
    },
    "BookTicker": {
        "best_bid_price_str": (1, "optional string"),
        "best_bid_qty_str": (2, "optional string"),
        "best_ask_price_str": (3, "optional string"),
        "best_ask_qty_str": (4, "optional string"),
        "event_ts": (10, T),
    },
    "ControlError": {
        "details": (1, "optional string"),
        "subsequent_errors": (2, "uint32"),
        "code": (3, "ErrorCode"),
        "gap_from_ts": (4, T),
        "gap_to_ts": (5, T),
        "gap_count": (6, "uint64"),
    },
    "ControlDisconnect": {"reason": (1, "string"), "close_code": (2, "uint32")},
}
ENUMS: dict[str, dict[str, int]] = {
    "Side": {"SIDE_UNSPECIFIED": 0, "SIDE_BUY": 1, "SIDE_SELL": 2},
    "Action": {"ACTION_UNSPECIFIED": 0, "ACTION_UPSERT": 1, "ACTION_DELETE": 2},
    "Origin": {"ORIGIN_UNSPECIFIED": 0, "ORIGIN_REALTIME": 1, "ORIGIN_REPLAY": 2, "ORIGIN_ARCHIVE": 3},
    "BarKind": {"BAR_KIND_UNSPECIFIED": 0, "BAR_KIND_TICK": 1, "BAR_KIND_TIME": 2, "BAR_KIND_VOLUME": 3},
    "OptionType": {"OPTION_TYPE_UNSPECIFIED": 0, "OPTION_TYPE_CALL": 1, "OPTION_TYPE_PUT": 2},
    "ErrorCode": {
        "ERROR_CODE_UNSPECIFIED": 0,
        "ERROR_CODE_WS_CONNECT": 1,
        "ERROR_CODE_WS_SEND": 2,
        "ERROR_CODE_SOURCE_AUTH": 3,
        "ERROR_CODE_SOURCE_RATE_LIMIT": 4,
        "ERROR_CODE_HANDOFF_GAP": 5,
    },
}
SCALARS = {
    FieldDescriptor.TYPE_STRING: "string",
    FieldDescriptor.TYPE_BYTES: "bytes",
    FieldDescriptor.TYPE_BOOL: "bool",
    FieldDescriptor.TYPE_INT32: "int32",
    FieldDescriptor.TYPE_INT64: "int64",
    FieldDescriptor.TYPE_UINT32: "uint32",
    FieldDescriptor.TYPE_UINT64: "uint64",
}
PACKAGE = "lakehouse.bronze.v1."


def all_messages() -> dict[str, Descriptor]:
    found: dict[str, Descriptor] = {}
    waiting: list[Descriptor] = [message for file in FILES for message in file.DESCRIPTOR.message_types_by_name.values()]
    while waiting:
        message = waiting.pop()
        found[message.full_name.removeprefix(PACKAGE)] = message
        waiting.extend(message.nested_types)
    return found


def all_enums() -> dict[str, EnumDescriptor]:
    return {name: enum for file in FILES for name, enum in file.DESCRIPTOR.enum_types_by_name.items()}


def written(field: FieldDescriptor) -> str:
    """The type as a .proto file writes it."""
    named = field.message_type or field.enum_type
    kind = named.full_name.removeprefix(PACKAGE) if named else SCALARS[field.type]
    if field.is_repeated:
        return f"repeated {kind}"
    optional = field.has_presence and not field.message_type and field.containing_oneof is not None
    return f"optional {kind}" if optional else kind


def test_no_message_or_enum_is_missing_or_unknown() -> None:
    assert all_messages().keys() == MESSAGES.keys()
    assert all_enums().keys() == ENUMS.keys()


@pytest.mark.parametrize("name", MESSAGES)
def test_fields_of_a_message(name: str) -> None:
    fields = {field.name: (field.number, written(field)) for field in all_messages()[name].fields}
    assert fields == MESSAGES[name]


@pytest.mark.parametrize("name", ENUMS)
def test_values_of_an_enum(name: str) -> None:
    assert {value.name: value.number for value in all_enums()[name].values} == ENUMS[name]


def test_the_payload_is_one_of_the_cases() -> None:
    event = all_messages()["NormalizedEvent"]
    assert [field.number for field in event.oneofs_by_name["payload"].fields] == [*range(100, 110), 150, 151]
