import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from lakehouse.bronze.v1 import control_pb2 as _control_pb2
from lakehouse.bronze.v1 import enums_pb2 as _enums_pb2
from lakehouse.bronze.v1 import market_pb2 as _market_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class NormalizedEvent(_message.Message):
    __slots__ = ("source", "exchange", "symbol", "local_ts", "ingest_ts", "origin", "meta", "event_id", "stream_id", "stream_seq", "trade", "book_change", "book_snapshot", "quote", "derivative_ticker", "liquidation", "option_summary", "book_ticker", "grouped_book_snapshot", "trade_bar", "error", "disconnect")
    class MetaEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    EXCHANGE_FIELD_NUMBER: _ClassVar[int]
    SYMBOL_FIELD_NUMBER: _ClassVar[int]
    LOCAL_TS_FIELD_NUMBER: _ClassVar[int]
    INGEST_TS_FIELD_NUMBER: _ClassVar[int]
    ORIGIN_FIELD_NUMBER: _ClassVar[int]
    META_FIELD_NUMBER: _ClassVar[int]
    EVENT_ID_FIELD_NUMBER: _ClassVar[int]
    STREAM_ID_FIELD_NUMBER: _ClassVar[int]
    STREAM_SEQ_FIELD_NUMBER: _ClassVar[int]
    TRADE_FIELD_NUMBER: _ClassVar[int]
    BOOK_CHANGE_FIELD_NUMBER: _ClassVar[int]
    BOOK_SNAPSHOT_FIELD_NUMBER: _ClassVar[int]
    QUOTE_FIELD_NUMBER: _ClassVar[int]
    DERIVATIVE_TICKER_FIELD_NUMBER: _ClassVar[int]
    LIQUIDATION_FIELD_NUMBER: _ClassVar[int]
    OPTION_SUMMARY_FIELD_NUMBER: _ClassVar[int]
    BOOK_TICKER_FIELD_NUMBER: _ClassVar[int]
    GROUPED_BOOK_SNAPSHOT_FIELD_NUMBER: _ClassVar[int]
    TRADE_BAR_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    DISCONNECT_FIELD_NUMBER: _ClassVar[int]
    source: str
    exchange: str
    symbol: str
    local_ts: _timestamp_pb2.Timestamp
    ingest_ts: _timestamp_pb2.Timestamp
    origin: _enums_pb2.Origin
    meta: _containers.ScalarMap[str, str]
    event_id: bytes
    stream_id: str
    stream_seq: int
    trade: _market_pb2.Trade
    book_change: _market_pb2.BookChange
    book_snapshot: _market_pb2.BookSnapshot
    quote: _market_pb2.Quote
    derivative_ticker: _market_pb2.DerivativeTicker
    liquidation: _market_pb2.Liquidation
    option_summary: _market_pb2.OptionSummary
    book_ticker: _market_pb2.BookTicker
    grouped_book_snapshot: _market_pb2.GroupedBookSnapshot
    trade_bar: _market_pb2.TradeBar
    error: _control_pb2.ControlError
    disconnect: _control_pb2.ControlDisconnect
    def __init__(self, source: _Optional[str] = ..., exchange: _Optional[str] = ..., symbol: _Optional[str] = ..., local_ts: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., ingest_ts: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., origin: _Optional[_Union[_enums_pb2.Origin, str]] = ..., meta: _Optional[_Mapping[str, str]] = ..., event_id: _Optional[bytes] = ..., stream_id: _Optional[str] = ..., stream_seq: _Optional[int] = ..., trade: _Optional[_Union[_market_pb2.Trade, _Mapping]] = ..., book_change: _Optional[_Union[_market_pb2.BookChange, _Mapping]] = ..., book_snapshot: _Optional[_Union[_market_pb2.BookSnapshot, _Mapping]] = ..., quote: _Optional[_Union[_market_pb2.Quote, _Mapping]] = ..., derivative_ticker: _Optional[_Union[_market_pb2.DerivativeTicker, _Mapping]] = ..., liquidation: _Optional[_Union[_market_pb2.Liquidation, _Mapping]] = ..., option_summary: _Optional[_Union[_market_pb2.OptionSummary, _Mapping]] = ..., book_ticker: _Optional[_Union[_market_pb2.BookTicker, _Mapping]] = ..., grouped_book_snapshot: _Optional[_Union[_market_pb2.GroupedBookSnapshot, _Mapping]] = ..., trade_bar: _Optional[_Union[_market_pb2.TradeBar, _Mapping]] = ..., error: _Optional[_Union[_control_pb2.ControlError, _Mapping]] = ..., disconnect: _Optional[_Union[_control_pb2.ControlDisconnect, _Mapping]] = ...) -> None: ...
