"""BitMEX. Its order book names a level by id: only the row that brings a level tells its price. Instruments are sent as changes to
a row that is known from before."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from ..records import BookChange, BookTicker, Decimal, DerivativeTicker, Liquidation, Record, Trade
from ..rules import LOCAL, Choice, Mapper, Root, Rule
from ..times import parse_time
from .exchange import Exchange, Since

_ID = "bitmex"
_SIDE = {"Buy": "buy", "Sell": "sell"}

LevelRow = tuple[str, str, bool, str | None, str | None, str | None]
InstrumentRow = tuple[Any, ...]


class Bitmex(Mapper):
    exchange = _ID

    def __init__(self, data_types: frozenset[str]) -> None:
        self.rules = tuple(rule for data_type, rules in _RULES.items() if data_type in data_types for rule in rules)
        self.reset()

    def reset(self) -> None:
        self._prices: dict[str, dict[str, str]] = {}  # symbol -> level id -> price
        self._instruments: dict[str, _Instrument] = {}

    def partial(self, rows: list[LevelRow], local: int, asked_for: str | None) -> Iterable[Record]:
        """The whole book. One that is empty names its symbol only in the filter that was subscribed to."""
        if not rows and asked_for is not None:
            return (BookChange(_ID, str(asked_for), True, [], [], local, local),)
        for symbol in {row[0] for row in rows}:
            self._prices[symbol] = {}
        return self.changes(rows, local, True)

    def changes(self, rows: list[LevelRow], local: int, is_snapshot: bool = False) -> Iterable[Record]:
        """Rows without a price are about levels that are known, or from before the connection: those nobody can place."""
        symbol = rows[0][0] if rows else ""
        prices = self._prices.get(symbol)
        if prices is None:
            prices = self._prices[symbol] = {}
        bids: list[tuple[Decimal, Decimal]] = []
        asks: list[tuple[Decimal, Decimal]] = []
        timestamp = None
        for name, level, is_ask, size, told, time in rows:
            if name != symbol:
                return self._by_symbol(rows, local, is_snapshot)
            if told is None:
                price = prices.get(level)
                if price is None:
                    continue
            else:
                price = prices[level] = told
            (asks if is_ask else bids).append((price, size or "0"))
            timestamp = time or timestamp
        if not bids and not asks:
            return ()
        return (BookChange(_ID, symbol, is_snapshot, bids, asks, parse_time(timestamp) if timestamp else local, local),)

    def _by_symbol(self, rows: list[LevelRow], local: int, is_snapshot: bool) -> Iterable[Record]:
        for symbol in dict.fromkeys(row[0] for row in rows):
            yield from self.changes([row for row in rows if row[0] == symbol], local, is_snapshot)

    def instruments(self, rows: list[InstrumentRow], local: int) -> Iterable[Record]:
        for symbol, timestamp, *values in rows:
            instrument = self._instruments.setdefault(symbol, _Instrument())
            if timestamp is not None:
                instrument.timestamp = parse_time(timestamp)
            if instrument.change(values) and instrument.timestamp is not None:
                yield instrument.ticker(symbol, local)


class _Instrument:
    """The last known values, in the order of DerivativeTicker's fields."""

    def __init__(self) -> None:
        self.timestamp: int | None = None
        self._values: list[str | None] = [None] * 7

    def change(self, values: list[str | None]) -> bool:
        """Takes over what is told. -> whether anything is different now."""
        before = self._values
        self._values = [old if new is None else new for old, new in zip(before, values, strict=True)]
        return self._values != before

    def ticker(self, symbol: str, local: int) -> DerivativeTicker:
        last, interest, rate, funding, predicted, index, mark = self._values
        at = None if funding is None else parse_time(funding)
        assert self.timestamp is not None
        return DerivativeTicker(_ID, symbol, last, interest, rate, at, predicted, index, mark, self.timestamp, local)


_LEVEL: dict[str, Any] = {
    "symbol": "symbol",
    "level": "id",
    "is_ask": Choice("side", {"Buy": False, "Sell": True}),
    "size": "size?",
    "price": "price?",
    "time": "timestamp?",
}
_RULES = {
    "book_change": (
        Rule(
            {"table": "orderBookL2", "action": "partial"},
            tuple,
            at="data",
            then=Bitmex.partial,
            extra=(Root("filter.symbol"),),
            **_LEVEL,
        ),
        Rule({"table": "orderBookL2"}, tuple, at="data", then=Bitmex.changes, **_LEVEL),
    ),
    "trade": (
        Rule(
            {"table": "trade", "action": "insert"},
            Trade,
            at="data",
            symbol="symbol",
            id="trdMatchID?",
            price="price",
            amount="size",
            side=Choice("side", _SIDE, other="unknown"),
            timestamp="timestamp",
        ),
    ),
    "book_ticker": (
        Rule(
            {"table": "quote", "action": "insert"},
            BookTicker,
            at="data",
            symbol="symbol",
            ask_amount="askSize?",
            ask_price="askPrice?",
            bid_price="bidPrice?",
            bid_amount="bidSize?",
            timestamp="timestamp",
        ),
    ),
    "derivative_ticker": (
        Rule(
            {"table": "instrument"},
            tuple,
            at="data",
            then=Bitmex.instruments,
            symbol="symbol",
            timestamp="timestamp?",
            last_price="lastPrice?",
            open_interest="openInterest?",
            funding_rate="fundingRate?",
            funding_timestamp="fundingTimestamp?",
            predicted_funding_rate="indicativeFundingRate?",
            index_price="indicativeSettlePrice?",
            mark_price="markPrice?",
        ),
    ),
    "liquidation": (
        Rule(
            {"table": "liquidation", "action": "insert"},
            Liquidation,
            at="data",
            symbol="symbol",
            id="orderID?",
            price="price?",
            amount="leavesQty?",
            side=Choice("side", _SIDE, other="unknown"),
            timestamp=LOCAL,
        ),
    ),
}


def _mapper(data_types: frozenset[str], _moment: datetime) -> Bitmex:
    return Bitmex(data_types)


EXCHANGE = Exchange(
    id=_ID,
    channels=(
        "trade",
        "orderBookL2",
        "liquidation",
        "connected",
        "announcement",
        "chat",
        "publicNotifications",
        "instrument",
        "settlement",
        "funding",
        "insurance",
        "orderBookL2_25",
        "orderBook10",
        "quote",
        "quoteBin1m",
        "quoteBin5m",
        "quoteBin1h",
        "quoteBin1d",
        "tradeBin1m",
        "tradeBin5m",
        "tradeBin1h",
        "tradeBin1d",
    ),
    sources={
        "trade": (Since(None, ("trade",)),),
        "book_change": (Since(None, ("orderBookL2",)),),
        "derivative_ticker": (Since(None, ("instrument",)),),
        "liquidation": (Since(None, ("liquidation",)),),
        "book_ticker": (Since(None, ("quote",)),),
    },
    make_mapper=_mapper,
)
