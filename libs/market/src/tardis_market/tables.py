"""One field table per record type. Every encoder (NDJSON, WebSocket frames, Bronze, in C and in Python) is driven by it.

The order of a table is the order of the JSON keys. `wire` is the field's number in the Bronze payload message. `identity` marks the
fields that make up the event id; the list is frozen: a field added later must not set it, or ids of old data would change.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from . import records as R


class Kind(IntEnum):
    TEXT = 0  # JSON string; an int is printed as its digits
    NUMBER = 1  # decimal text, printed by JavaScript's rule; Bronze keeps every digit as a string
    INTEGER = 2  # a JSON number; a Bronze integer, left out there when it has a fraction
    TIME = 3
    FLAG = 4
    CHOICE = 5  # JSON string, Bronze enum by `choices`
    LEVELS = 6  # exchange levels, see records.Levels
    RENDERED = 7  # levels that are JSON text already
    TOP = 8  # Bronze only: the first rendered level, its price under `wire`, its amount under `wire + 1`
    STRINGS = 9  # list of JSON strings; never in a Bronze payload


class Field(NamedTuple):
    key: str  # JSON key; "" for what only Bronze carries
    attr: str
    kind: Kind
    wire: int = 0  # 0: not in the Bronze payload (the envelope has it, or nobody)
    identity: bool = True
    choices: tuple[tuple[str, int], ...] = ()


class Table(NamedTuple):
    record: type[R.Record]
    type: str  # the JSON "type"
    case: int  # field number of the payload in NormalizedEvent
    case_name: str  # lowerCamelCase, as options and templates write it
    fields: tuple[Field, ...]

    @property
    def wire_fields(self) -> tuple[Field, ...]:
        """What the Bronze payload holds, by rising field number, as protobuf writes it."""
        return tuple(sorted((f for f in self.fields if f.wire), key=lambda f: f.wire))


SIDES = (("buy", 1), ("sell", 2))
OPTION_TYPES = (("call", 1), ("put", 2))
BAR_KINDS = (("tick", 1), ("time", 2), ("volume", 3))

SYMBOL = Field("symbol", "symbol", Kind.TEXT)
EXCHANGE = Field("exchange", "exchange", Kind.TEXT)
NAME = Field("name", "name", Kind.TEXT)
EVENT_TIME = Field("timestamp", "timestamp", Kind.TIME, 10)
LOCAL_TIME = Field("localTimestamp", "local_timestamp", Kind.TIME)

TRADE = Table(
    R.Trade,
    "trade",
    100,
    "trade",
    (
        SYMBOL,
        EXCHANGE,
        Field("id", "id", Kind.TEXT, 1),
        Field("price", "price", Kind.NUMBER, 2),
        Field("amount", "amount", Kind.NUMBER, 3),
        Field("side", "side", Kind.CHOICE, 4, choices=SIDES),
        EVENT_TIME,
        LOCAL_TIME,
    ),
)
BOOK_CHANGE = Table(
    R.BookChange,
    "book_change",
    101,
    "bookChange",
    (
        SYMBOL,
        EXCHANGE,
        Field("isSnapshot", "is_snapshot", Kind.FLAG, 22),
        Field("bids", "bids", Kind.LEVELS, 20),
        Field("asks", "asks", Kind.LEVELS, 21),
        EVENT_TIME,
        LOCAL_TIME,
    ),
)
DERIVATIVE_TICKER = Table(
    R.DerivativeTicker,
    "derivative_ticker",
    104,
    "derivativeTicker",
    (
        SYMBOL,
        EXCHANGE,
        Field("lastPrice", "last_price", Kind.NUMBER, 4),
        Field("openInterest", "open_interest", Kind.NUMBER, 5),
        Field("fundingRate", "funding_rate", Kind.NUMBER, 3),
        Field("fundingTimestamp", "funding_timestamp", Kind.TIME, 11),
        Field("predictedFundingRate", "predicted_funding_rate", Kind.NUMBER, 6),
        Field("indexPrice", "index_price", Kind.NUMBER, 2),
        Field("markPrice", "mark_price", Kind.NUMBER, 1),
        EVENT_TIME,
        LOCAL_TIME,
    ),
)
LIQUIDATION = Table(
    R.Liquidation,
    "liquidation",
    105,
    "liquidation",
    (
        SYMBOL,
        EXCHANGE,
        Field("id", "id", Kind.TEXT, 4),
        Field("price", "price", Kind.NUMBER, 2),
        Field("amount", "amount", Kind.NUMBER, 3),
        Field("side", "side", Kind.CHOICE, 1, choices=SIDES),
        EVENT_TIME,
        LOCAL_TIME,
    ),
)
OPTION_SUMMARY = Table(
    R.OptionSummary,
    "option_summary",
    106,
    "optionSummary",
    (
        SYMBOL,
        EXCHANGE,
        Field("optionType", "option_type", Kind.CHOICE, 9, choices=OPTION_TYPES),
        Field("strikePrice", "strike_price", Kind.NUMBER, 8),
        Field("expirationDate", "expiration_date", Kind.TIME, 11),
        Field("bestBidPrice", "best_bid_price", Kind.NUMBER, 12),
        Field("bestBidAmount", "best_bid_amount", Kind.NUMBER, 13),
        Field("bestBidIV", "best_bid_iv", Kind.NUMBER, 14),
        Field("bestAskPrice", "best_ask_price", Kind.NUMBER, 15),
        Field("bestAskAmount", "best_ask_amount", Kind.NUMBER, 16),
        Field("bestAskIV", "best_ask_iv", Kind.NUMBER, 17),
        Field("lastPrice", "last_price", Kind.NUMBER, 18),
        Field("openInterest", "open_interest", Kind.NUMBER, 6),
        Field("markPrice", "mark_price", Kind.NUMBER, 19),
        Field("markIV", "mark_iv", Kind.NUMBER, 20),
        Field("", "mark_iv", Kind.NUMBER, 1, identity=False),  # older consumers look for it in iv_str
        Field("delta", "delta", Kind.NUMBER, 2),
        Field("gamma", "gamma", Kind.NUMBER, 3),
        Field("vega", "vega", Kind.NUMBER, 5),
        Field("theta", "theta", Kind.NUMBER, 4),
        Field("rho", "rho", Kind.NUMBER, 7),
        Field("underlyingPrice", "underlying_price", Kind.NUMBER, 21),
        Field("underlyingIndex", "underlying_index", Kind.TEXT, 22),
        EVENT_TIME,
        LOCAL_TIME,
    ),
)
BOOK_TICKER = Table(
    R.BookTicker,
    "book_ticker",
    107,
    "bookTicker",
    (
        SYMBOL,
        EXCHANGE,
        Field("askAmount", "ask_amount", Kind.NUMBER, 4),
        Field("askPrice", "ask_price", Kind.NUMBER, 3),
        Field("bidPrice", "bid_price", Kind.NUMBER, 1),
        Field("bidAmount", "bid_amount", Kind.NUMBER, 2),
        EVENT_TIME,
        LOCAL_TIME,
    ),
)
_SNAPSHOT_FIELDS = (
    SYMBOL,
    EXCHANGE,
    NAME,
    Field("depth", "depth", Kind.INTEGER, 1),
    Field("interval", "interval", Kind.INTEGER, 12),
    Field("grouping", "grouping", Kind.INTEGER, 11),
    Field("bids", "bids", Kind.RENDERED, 2),
    Field("asks", "asks", Kind.RENDERED, 3),
    EVENT_TIME,
    LOCAL_TIME,
    Field("", "remove_crossed_levels", Kind.FLAG, 13, identity=False),
)
BOOK_SNAPSHOT = Table(R.BookSnapshot, "book_snapshot", 102, "bookSnapshot", _SNAPSHOT_FIELDS)
GROUPED_BOOK_SNAPSHOT = Table(R.BookSnapshot, "book_snapshot", 108, "groupedBookSnapshot", _SNAPSHOT_FIELDS)
# A quote is a book snapshot of depth 1 for JSON clients; Bronze has a payload of its own for it.
QUOTE = Table(
    R.BookSnapshot,
    "book_snapshot",
    103,
    "quote",
    (
        Field("", "bids", Kind.TOP, 1),
        Field("", "asks", Kind.TOP, 3),
        Field("", "interval", Kind.INTEGER, 11),
        EVENT_TIME,
    ),
)
TRADE_BAR = Table(
    R.TradeBar,
    "trade_bar",
    109,
    "tradeBar",
    (
        SYMBOL,
        EXCHANGE,
        NAME,
        Field("interval", "interval", Kind.INTEGER, 2),
        Field("", "interval_ms", Kind.INTEGER, 3, identity=False),
        Field("kind", "kind", Kind.CHOICE, 1, choices=BAR_KINDS),
        Field("open", "open", Kind.NUMBER, 4),
        Field("high", "high", Kind.NUMBER, 5),
        Field("low", "low", Kind.NUMBER, 6),
        Field("close", "close", Kind.NUMBER, 7),
        Field("volume", "volume", Kind.NUMBER, 8),
        Field("buyVolume", "buy_volume", Kind.NUMBER, 12),
        Field("sellVolume", "sell_volume", Kind.NUMBER, 13),
        Field("trades", "trades", Kind.INTEGER, 9),
        Field("vwap", "vwap", Kind.NUMBER, 14),
        Field("openTimestamp", "open_timestamp", Kind.TIME, 10),
        Field("closeTimestamp", "close_timestamp", Kind.TIME, 15),
        LOCAL_TIME,
        Field("timestamp", "timestamp", Kind.TIME, 11),
    ),
)
DISCONNECT = Table(
    R.Disconnect,
    "disconnect",
    151,
    "disconnect",
    (EXCHANGE, LOCAL_TIME, Field("symbols", "symbols", Kind.STRINGS)),
)
ERROR = Table(
    R.Error,
    "error",
    150,
    "error",
    (
        EXCHANGE,
        LOCAL_TIME,
        Field("details", "details", Kind.TEXT, 1),
        Field("subSequentErrorsCount", "subsequent_errors", Kind.INTEGER, 2),
    ),
)

#: What the JSON encoders use: one table per record type.
TABLES = (
    TRADE,
    BOOK_CHANGE,
    DERIVATIVE_TICKER,
    LIQUIDATION,
    OPTION_SUMMARY,
    BOOK_TICKER,
    BOOK_SNAPSHOT,
    TRADE_BAR,
    DISCONNECT,
    ERROR,
)
#: What Bronze uses: book snapshots have three payload cases.
PAYLOADS = (*TABLES, GROUPED_BOOK_SNAPSHOT, QUOTE)
PAYLOAD_CASES = tuple(table.case_name for table in sorted(PAYLOADS, key=lambda t: t.case))


def payload_table(record: R.Record) -> Table:
    """The Bronze table of a record: its type's, except that snapshots are split by name and grouping."""
    if isinstance(record, R.BookSnapshot):
        if record.name.startswith("quote"):
            return QUOTE
        return BOOK_SNAPSHOT if record.grouping is None else GROUPED_BOOK_SNAPSHOT
    return _BY_RECORD[type(record)]


_BY_RECORD = {table.record: table for table in TABLES}
