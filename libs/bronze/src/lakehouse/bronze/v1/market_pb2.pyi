import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from lakehouse.bronze.v1 import enums_pb2 as _enums_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Trade(_message.Message):
    __slots__ = ("trade_id", "price_str", "qty_str", "side", "sequence", "event_ts")
    TRADE_ID_FIELD_NUMBER: _ClassVar[int]
    PRICE_STR_FIELD_NUMBER: _ClassVar[int]
    QTY_STR_FIELD_NUMBER: _ClassVar[int]
    SIDE_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    EVENT_TS_FIELD_NUMBER: _ClassVar[int]
    trade_id: str
    price_str: str
    qty_str: str
    side: _enums_pb2.Side
    sequence: int
    event_ts: _timestamp_pb2.Timestamp
    def __init__(self, trade_id: _Optional[str] = ..., price_str: _Optional[str] = ..., qty_str: _Optional[str] = ..., side: _Optional[_Union[_enums_pb2.Side, str]] = ..., sequence: _Optional[int] = ..., event_ts: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class BookChange(_message.Message):
    __slots__ = ("side", "action", "price_str", "qty_str", "level", "sequence", "event_ts", "bids", "asks", "is_snapshot")
    class Level(_message.Message):
        __slots__ = ("price_str", "qty_str")
        PRICE_STR_FIELD_NUMBER: _ClassVar[int]
        QTY_STR_FIELD_NUMBER: _ClassVar[int]
        price_str: str
        qty_str: str
        def __init__(self, price_str: _Optional[str] = ..., qty_str: _Optional[str] = ...) -> None: ...
    SIDE_FIELD_NUMBER: _ClassVar[int]
    ACTION_FIELD_NUMBER: _ClassVar[int]
    PRICE_STR_FIELD_NUMBER: _ClassVar[int]
    QTY_STR_FIELD_NUMBER: _ClassVar[int]
    LEVEL_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    EVENT_TS_FIELD_NUMBER: _ClassVar[int]
    BIDS_FIELD_NUMBER: _ClassVar[int]
    ASKS_FIELD_NUMBER: _ClassVar[int]
    IS_SNAPSHOT_FIELD_NUMBER: _ClassVar[int]
    side: _enums_pb2.Side
    action: _enums_pb2.Action
    price_str: str
    qty_str: str
    level: int
    sequence: int
    event_ts: _timestamp_pb2.Timestamp
    bids: _containers.RepeatedCompositeFieldContainer[BookChange.Level]
    asks: _containers.RepeatedCompositeFieldContainer[BookChange.Level]
    is_snapshot: bool
    def __init__(self, side: _Optional[_Union[_enums_pb2.Side, str]] = ..., action: _Optional[_Union[_enums_pb2.Action, str]] = ..., price_str: _Optional[str] = ..., qty_str: _Optional[str] = ..., level: _Optional[int] = ..., sequence: _Optional[int] = ..., event_ts: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., bids: _Optional[_Iterable[_Union[BookChange.Level, _Mapping]]] = ..., asks: _Optional[_Iterable[_Union[BookChange.Level, _Mapping]]] = ..., is_snapshot: _Optional[bool] = ...) -> None: ...

class BookSnapshot(_message.Message):
    __slots__ = ("depth", "bids", "asks", "event_ts", "grouping", "interval_ms", "remove_crossed_levels", "sequence")
    class Level(_message.Message):
        __slots__ = ("price_str", "qty_str")
        PRICE_STR_FIELD_NUMBER: _ClassVar[int]
        QTY_STR_FIELD_NUMBER: _ClassVar[int]
        price_str: str
        qty_str: str
        def __init__(self, price_str: _Optional[str] = ..., qty_str: _Optional[str] = ...) -> None: ...
    DEPTH_FIELD_NUMBER: _ClassVar[int]
    BIDS_FIELD_NUMBER: _ClassVar[int]
    ASKS_FIELD_NUMBER: _ClassVar[int]
    EVENT_TS_FIELD_NUMBER: _ClassVar[int]
    GROUPING_FIELD_NUMBER: _ClassVar[int]
    INTERVAL_MS_FIELD_NUMBER: _ClassVar[int]
    REMOVE_CROSSED_LEVELS_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    depth: int
    bids: _containers.RepeatedCompositeFieldContainer[BookSnapshot.Level]
    asks: _containers.RepeatedCompositeFieldContainer[BookSnapshot.Level]
    event_ts: _timestamp_pb2.Timestamp
    grouping: int
    interval_ms: int
    remove_crossed_levels: bool
    sequence: int
    def __init__(self, depth: _Optional[int] = ..., bids: _Optional[_Iterable[_Union[BookSnapshot.Level, _Mapping]]] = ..., asks: _Optional[_Iterable[_Union[BookSnapshot.Level, _Mapping]]] = ..., event_ts: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., grouping: _Optional[int] = ..., interval_ms: _Optional[int] = ..., remove_crossed_levels: _Optional[bool] = ..., sequence: _Optional[int] = ...) -> None: ...

class GroupedBookSnapshot(_message.Message):
    __slots__ = ("depth", "bids", "asks", "event_ts", "grouping", "interval_ms", "remove_crossed_levels", "sequence")
    class Level(_message.Message):
        __slots__ = ("price_str", "qty_str")
        PRICE_STR_FIELD_NUMBER: _ClassVar[int]
        QTY_STR_FIELD_NUMBER: _ClassVar[int]
        price_str: str
        qty_str: str
        def __init__(self, price_str: _Optional[str] = ..., qty_str: _Optional[str] = ...) -> None: ...
    DEPTH_FIELD_NUMBER: _ClassVar[int]
    BIDS_FIELD_NUMBER: _ClassVar[int]
    ASKS_FIELD_NUMBER: _ClassVar[int]
    EVENT_TS_FIELD_NUMBER: _ClassVar[int]
    GROUPING_FIELD_NUMBER: _ClassVar[int]
    INTERVAL_MS_FIELD_NUMBER: _ClassVar[int]
    REMOVE_CROSSED_LEVELS_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    depth: int
    bids: _containers.RepeatedCompositeFieldContainer[GroupedBookSnapshot.Level]
    asks: _containers.RepeatedCompositeFieldContainer[GroupedBookSnapshot.Level]
    event_ts: _timestamp_pb2.Timestamp
    grouping: int
    interval_ms: int
    remove_crossed_levels: bool
    sequence: int
    def __init__(self, depth: _Optional[int] = ..., bids: _Optional[_Iterable[_Union[GroupedBookSnapshot.Level, _Mapping]]] = ..., asks: _Optional[_Iterable[_Union[GroupedBookSnapshot.Level, _Mapping]]] = ..., event_ts: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., grouping: _Optional[int] = ..., interval_ms: _Optional[int] = ..., remove_crossed_levels: _Optional[bool] = ..., sequence: _Optional[int] = ...) -> None: ...

class TradeBar(_message.Message):
    __slots__ = ("kind", "interval", "interval_ms", "open_str", "high_str", "low_str", "close_str", "volume_str", "trade_count", "event_ts", "end_ts", "buy_volume_str", "sell_volume_str", "vwap_str", "close_ts")
    KIND_FIELD_NUMBER: _ClassVar[int]
    INTERVAL_FIELD_NUMBER: _ClassVar[int]
    INTERVAL_MS_FIELD_NUMBER: _ClassVar[int]
    OPEN_STR_FIELD_NUMBER: _ClassVar[int]
    HIGH_STR_FIELD_NUMBER: _ClassVar[int]
    LOW_STR_FIELD_NUMBER: _ClassVar[int]
    CLOSE_STR_FIELD_NUMBER: _ClassVar[int]
    VOLUME_STR_FIELD_NUMBER: _ClassVar[int]
    TRADE_COUNT_FIELD_NUMBER: _ClassVar[int]
    EVENT_TS_FIELD_NUMBER: _ClassVar[int]
    END_TS_FIELD_NUMBER: _ClassVar[int]
    BUY_VOLUME_STR_FIELD_NUMBER: _ClassVar[int]
    SELL_VOLUME_STR_FIELD_NUMBER: _ClassVar[int]
    VWAP_STR_FIELD_NUMBER: _ClassVar[int]
    CLOSE_TS_FIELD_NUMBER: _ClassVar[int]
    kind: _enums_pb2.BarKind
    interval: int
    interval_ms: int
    open_str: str
    high_str: str
    low_str: str
    close_str: str
    volume_str: str
    trade_count: int
    event_ts: _timestamp_pb2.Timestamp
    end_ts: _timestamp_pb2.Timestamp
    buy_volume_str: str
    sell_volume_str: str
    vwap_str: str
    close_ts: _timestamp_pb2.Timestamp
    def __init__(self, kind: _Optional[_Union[_enums_pb2.BarKind, str]] = ..., interval: _Optional[int] = ..., interval_ms: _Optional[int] = ..., open_str: _Optional[str] = ..., high_str: _Optional[str] = ..., low_str: _Optional[str] = ..., close_str: _Optional[str] = ..., volume_str: _Optional[str] = ..., trade_count: _Optional[int] = ..., event_ts: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., end_ts: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., buy_volume_str: _Optional[str] = ..., sell_volume_str: _Optional[str] = ..., vwap_str: _Optional[str] = ..., close_ts: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class Quote(_message.Message):
    __slots__ = ("bid_price_str", "bid_qty_str", "ask_price_str", "ask_qty_str", "event_ts", "interval_ms")
    BID_PRICE_STR_FIELD_NUMBER: _ClassVar[int]
    BID_QTY_STR_FIELD_NUMBER: _ClassVar[int]
    ASK_PRICE_STR_FIELD_NUMBER: _ClassVar[int]
    ASK_QTY_STR_FIELD_NUMBER: _ClassVar[int]
    EVENT_TS_FIELD_NUMBER: _ClassVar[int]
    INTERVAL_MS_FIELD_NUMBER: _ClassVar[int]
    bid_price_str: str
    bid_qty_str: str
    ask_price_str: str
    ask_qty_str: str
    event_ts: _timestamp_pb2.Timestamp
    interval_ms: int
    def __init__(self, bid_price_str: _Optional[str] = ..., bid_qty_str: _Optional[str] = ..., ask_price_str: _Optional[str] = ..., ask_qty_str: _Optional[str] = ..., event_ts: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., interval_ms: _Optional[int] = ...) -> None: ...

class DerivativeTicker(_message.Message):
    __slots__ = ("mark_price_str", "index_price_str", "funding_rate_str", "last_price_str", "open_interest_str", "predicted_funding_rate_str", "event_ts", "funding_ts")
    MARK_PRICE_STR_FIELD_NUMBER: _ClassVar[int]
    INDEX_PRICE_STR_FIELD_NUMBER: _ClassVar[int]
    FUNDING_RATE_STR_FIELD_NUMBER: _ClassVar[int]
    LAST_PRICE_STR_FIELD_NUMBER: _ClassVar[int]
    OPEN_INTEREST_STR_FIELD_NUMBER: _ClassVar[int]
    PREDICTED_FUNDING_RATE_STR_FIELD_NUMBER: _ClassVar[int]
    EVENT_TS_FIELD_NUMBER: _ClassVar[int]
    FUNDING_TS_FIELD_NUMBER: _ClassVar[int]
    mark_price_str: str
    index_price_str: str
    funding_rate_str: str
    last_price_str: str
    open_interest_str: str
    predicted_funding_rate_str: str
    event_ts: _timestamp_pb2.Timestamp
    funding_ts: _timestamp_pb2.Timestamp
    def __init__(self, mark_price_str: _Optional[str] = ..., index_price_str: _Optional[str] = ..., funding_rate_str: _Optional[str] = ..., last_price_str: _Optional[str] = ..., open_interest_str: _Optional[str] = ..., predicted_funding_rate_str: _Optional[str] = ..., event_ts: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., funding_ts: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class Liquidation(_message.Message):
    __slots__ = ("side", "price_str", "qty_str", "order_id", "event_ts")
    SIDE_FIELD_NUMBER: _ClassVar[int]
    PRICE_STR_FIELD_NUMBER: _ClassVar[int]
    QTY_STR_FIELD_NUMBER: _ClassVar[int]
    ORDER_ID_FIELD_NUMBER: _ClassVar[int]
    EVENT_TS_FIELD_NUMBER: _ClassVar[int]
    side: _enums_pb2.Side
    price_str: str
    qty_str: str
    order_id: str
    event_ts: _timestamp_pb2.Timestamp
    def __init__(self, side: _Optional[_Union[_enums_pb2.Side, str]] = ..., price_str: _Optional[str] = ..., qty_str: _Optional[str] = ..., order_id: _Optional[str] = ..., event_ts: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class OptionSummary(_message.Message):
    __slots__ = ("iv_str", "delta_str", "gamma_str", "theta_str", "vega_str", "oi_str", "rho_str", "strike_price_str", "option_type", "event_ts", "expiration_ts", "best_bid_price_str", "best_bid_qty_str", "best_bid_iv_str", "best_ask_price_str", "best_ask_qty_str", "best_ask_iv_str", "last_price_str", "mark_price_str", "mark_iv_str", "underlying_price_str", "underlying_index")
    IV_STR_FIELD_NUMBER: _ClassVar[int]
    DELTA_STR_FIELD_NUMBER: _ClassVar[int]
    GAMMA_STR_FIELD_NUMBER: _ClassVar[int]
    THETA_STR_FIELD_NUMBER: _ClassVar[int]
    VEGA_STR_FIELD_NUMBER: _ClassVar[int]
    OI_STR_FIELD_NUMBER: _ClassVar[int]
    RHO_STR_FIELD_NUMBER: _ClassVar[int]
    STRIKE_PRICE_STR_FIELD_NUMBER: _ClassVar[int]
    OPTION_TYPE_FIELD_NUMBER: _ClassVar[int]
    EVENT_TS_FIELD_NUMBER: _ClassVar[int]
    EXPIRATION_TS_FIELD_NUMBER: _ClassVar[int]
    BEST_BID_PRICE_STR_FIELD_NUMBER: _ClassVar[int]
    BEST_BID_QTY_STR_FIELD_NUMBER: _ClassVar[int]
    BEST_BID_IV_STR_FIELD_NUMBER: _ClassVar[int]
    BEST_ASK_PRICE_STR_FIELD_NUMBER: _ClassVar[int]
    BEST_ASK_QTY_STR_FIELD_NUMBER: _ClassVar[int]
    BEST_ASK_IV_STR_FIELD_NUMBER: _ClassVar[int]
    LAST_PRICE_STR_FIELD_NUMBER: _ClassVar[int]
    MARK_PRICE_STR_FIELD_NUMBER: _ClassVar[int]
    MARK_IV_STR_FIELD_NUMBER: _ClassVar[int]
    UNDERLYING_PRICE_STR_FIELD_NUMBER: _ClassVar[int]
    UNDERLYING_INDEX_FIELD_NUMBER: _ClassVar[int]
    iv_str: str
    delta_str: str
    gamma_str: str
    theta_str: str
    vega_str: str
    oi_str: str
    rho_str: str
    strike_price_str: str
    option_type: _enums_pb2.OptionType
    event_ts: _timestamp_pb2.Timestamp
    expiration_ts: _timestamp_pb2.Timestamp
    best_bid_price_str: str
    best_bid_qty_str: str
    best_bid_iv_str: str
    best_ask_price_str: str
    best_ask_qty_str: str
    best_ask_iv_str: str
    last_price_str: str
    mark_price_str: str
    mark_iv_str: str
    underlying_price_str: str
    underlying_index: str
    def __init__(self, iv_str: _Optional[str] = ..., delta_str: _Optional[str] = ..., gamma_str: _Optional[str] = ..., theta_str: _Optional[str] = ..., vega_str: _Optional[str] = ..., oi_str: _Optional[str] = ..., rho_str: _Optional[str] = ..., strike_price_str: _Optional[str] = ..., option_type: _Optional[_Union[_enums_pb2.OptionType, str]] = ..., event_ts: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., expiration_ts: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., best_bid_price_str: _Optional[str] = ..., best_bid_qty_str: _Optional[str] = ..., best_bid_iv_str: _Optional[str] = ..., best_ask_price_str: _Optional[str] = ..., best_ask_qty_str: _Optional[str] = ..., best_ask_iv_str: _Optional[str] = ..., last_price_str: _Optional[str] = ..., mark_price_str: _Optional[str] = ..., mark_iv_str: _Optional[str] = ..., underlying_price_str: _Optional[str] = ..., underlying_index: _Optional[str] = ...) -> None: ...

class BookTicker(_message.Message):
    __slots__ = ("best_bid_price_str", "best_bid_qty_str", "best_ask_price_str", "best_ask_qty_str", "event_ts")
    BEST_BID_PRICE_STR_FIELD_NUMBER: _ClassVar[int]
    BEST_BID_QTY_STR_FIELD_NUMBER: _ClassVar[int]
    BEST_ASK_PRICE_STR_FIELD_NUMBER: _ClassVar[int]
    BEST_ASK_QTY_STR_FIELD_NUMBER: _ClassVar[int]
    EVENT_TS_FIELD_NUMBER: _ClassVar[int]
    best_bid_price_str: str
    best_bid_qty_str: str
    best_ask_price_str: str
    best_ask_qty_str: str
    event_ts: _timestamp_pb2.Timestamp
    def __init__(self, best_bid_price_str: _Optional[str] = ..., best_bid_qty_str: _Optional[str] = ..., best_ask_price_str: _Optional[str] = ..., best_ask_qty_str: _Optional[str] = ..., event_ts: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...
