"""Normalized records: what every mapper yields and every encoder reads.

Decimals stay as the exchange wrote them: `str`, or `msgspec.Raw`/`bytes` where they were cut out of a JSON text. None means "no
value" (the field is left out); the text "NaN" is a value that JSON prints as null.

A time is an int since 1970 in milliseconds, microseconds or units of 100 ns; its size tells which (see `tardis_market.times`), and
so how many digits are printed: three for milliseconds, six for the finer ones. Replayed local times have all seven digits.
"""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Raw, Struct

Decimal: TypeAlias = str | bytes | Raw | int | float | None
Levels: TypeAlias = Raw | bytes | list[tuple[Decimal, Decimal]]


class Layout(Struct, gc=False, frozen=True):
    """Where price and amount stand in one level of the exchange's own JSON list: positions in an array, or keys of an object."""

    price: int | str = 0
    amount: int | str = 1
    delete: str | None = None  # a first item that starts like this means: amount 0


PAIRS = Layout()


class Record(Struct, gc=False):
    """`repeat` counts equal records since the local time changed; it keeps the event ids of identical twins apart."""

    exchange: str
    symbol: str | None


class Trade(Record, gc=False):
    id: str | int | None
    price: Decimal
    amount: Decimal
    side: str
    timestamp: int
    local_timestamp: int
    repeat: int = 0


class BookChange(Record, gc=False):
    is_snapshot: bool
    bids: Levels
    asks: Levels
    timestamp: int
    local_timestamp: int
    layout: Layout = PAIRS
    repeat: int = 0


class DerivativeTicker(Record, gc=False):
    last_price: Decimal
    open_interest: Decimal
    funding_rate: Decimal
    funding_timestamp: int | None
    predicted_funding_rate: Decimal
    index_price: Decimal
    mark_price: Decimal
    timestamp: int
    local_timestamp: int
    repeat: int = 0


class Liquidation(Record, gc=False):
    id: str | int | None
    price: Decimal
    amount: Decimal
    side: str
    timestamp: int
    local_timestamp: int
    repeat: int = 0


class OptionSummary(Record, gc=False):
    option_type: str
    strike_price: Decimal
    expiration_date: int | None
    best_bid_price: Decimal
    best_bid_amount: Decimal
    best_bid_iv: Decimal
    best_ask_price: Decimal
    best_ask_amount: Decimal
    best_ask_iv: Decimal
    last_price: Decimal
    open_interest: Decimal
    mark_price: Decimal
    mark_iv: Decimal
    delta: Decimal
    gamma: Decimal
    vega: Decimal
    theta: Decimal
    rho: Decimal
    underlying_price: Decimal
    underlying_index: str | None
    timestamp: int
    local_timestamp: int
    repeat: int = 0


class BookTicker(Record, gc=False):
    ask_amount: Decimal
    ask_price: Decimal
    bid_price: Decimal
    bid_amount: Decimal
    timestamp: int
    local_timestamp: int
    repeat: int = 0


class BookSnapshot(Record, gc=False):
    name: str
    depth: int | float
    interval: int | float
    grouping: int | float | None
    bids: bytes  # rendered: {"price":1,"amount":2},... with {} for levels that are not there
    asks: bytes
    timestamp: int
    local_timestamp: int
    remove_crossed_levels: bool = True
    repeat: int = 0


class TradeBar(Record, gc=False):
    name: str
    interval: int | float
    kind: str
    open: float
    high: float
    low: float
    close: float
    volume: float
    buy_volume: float
    sell_volume: float
    trades: int
    vwap: float
    open_timestamp: int
    close_timestamp: int
    local_timestamp: int
    timestamp: int
    interval_ms: int | float | None = None  # the interval again, of time bars only
    repeat: int = 0


class Disconnect(Record, gc=False):
    local_timestamp: int
    symbols: list[str] | None = None
    repeat: int = 0


class Error(Record, gc=False):
    local_timestamp: int
    details: str
    subsequent_errors: int
    repeat: int = 0
