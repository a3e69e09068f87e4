"""Made-up markets make sense: books rebuilt from the stream are never crossed and agree with quotes and trades."""

import json
import random
from abc import ABC, abstractmethod
from collections import defaultdict
from datetime import date
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tardis_simulator.book import Book
from tardis_simulator.feeds import FEEDS
from tardis_simulator.recipe import Recipe

DAY = date(2020, 2, 1)
Side = dict[float, str]


class Reader(ABC):
    """A client that keeps books the way a real one would, and complains."""

    def __init__(self) -> None:
        self.books: dict[str, tuple[Side, Side]] = defaultdict(lambda: ({}, {}))
        self.checked = {"trades": 0, "tops": 0, "changes": 0}

    @abstractmethod
    def read(self, message: dict[str, Any]) -> None: ...

    def touch(self, symbol: str) -> tuple[float, float]:
        bids, asks = self.books[symbol]
        return max(bids), min(asks)

    def changed(self, symbol: str) -> None:
        bid, ask = self.touch(symbol)
        assert bid < ask, symbol
        self.checked["changes"] += 1

    def traded(self, symbol: str, price: float, taker_sold: bool) -> None:
        bid, ask = self.touch(symbol)
        assert price == (bid if taker_sold else ask)
        self.checked["trades"] += 1

    def quoted(self, symbol: str, bid: float, bid_size: object, ask: float, ask_size: object) -> None:
        bids, asks = self.books[symbol]
        assert (bid, ask) == self.touch(symbol)
        assert (bids[bid], asks[ask]) == (str(bid_size), str(ask_size))
        self.checked["tops"] += 1


class BitmexReader(Reader):
    def __init__(self) -> None:
        super().__init__()
        self.prices: dict[int, float] = {}

    def read(self, message: dict[str, Any]) -> None:
        match message.get("table"):
            case "orderBookL2":
                self._book(message["action"], message["data"])
            case "trade":
                for row in message["data"]:
                    self.traded(row["symbol"], row["price"], row["side"] == "Sell")
            case "quote":
                for row in message["data"]:
                    self.quoted(row["symbol"], row["bidPrice"], row["bidSize"], row["askPrice"], row["askSize"])

    def _book(self, action: str, rows: list[dict[str, Any]]) -> None:
        if action == "partial":
            self.books.pop(rows[0]["symbol"], None)
        for row in rows:
            side = self.books[row["symbol"]][row["side"] == "Sell"]
            if "price" in row:
                assert self.prices.setdefault(row["id"], row["price"]) == row["price"], "an id means one price"
            if action == "delete":
                del side[self.prices[row["id"]]]
            else:
                side[self.prices[row["id"]]] = str(row["size"])
        self.changed(rows[0]["symbol"])


class BinanceReader(Reader):
    def __init__(self) -> None:
        super().__init__()
        self.last: dict[str, int] = {}

    def read(self, message: dict[str, Any]) -> None:
        symbol, _, channel = message.get("stream", "").partition("@")
        data = message.get("data", {})
        match channel:
            case "depthSnapshot":
                self.books[symbol] = ({}, {})
                self.last[symbol] = data["lastUpdateId"]
                self._apply(symbol, data["bids"], data["asks"])
            case "depth@100ms":
                assert data["U"] == self.last[symbol] + 1
                self.last[symbol] = data["u"]
                self._apply(symbol, data["b"], data["a"])
            case "trade":
                self.traded(symbol, float(data["p"]), data["m"])
            case "bookTicker":
                self.quoted(symbol, float(data["b"]), data["B"], float(data["a"]), data["A"])

    def _apply(self, symbol: str, bids: list[list[str]], asks: list[list[str]]) -> None:
        for side, levels in zip(self.books[symbol], (bids, asks), strict=True):
            for price, amount in levels:
                side[float(price)] = amount
                if float(amount) == 0:
                    del side[float(price)]
        self.changed(symbol)


class DeribitReader(Reader):
    def __init__(self) -> None:
        super().__init__()
        self.last: dict[str, int] = {}

    def read(self, message: dict[str, Any]) -> None:
        if "params" not in message:
            return
        data = message["params"]["data"]
        match message["params"]["channel"].partition(".")[0]:
            case "book":
                symbol = data["instrument_name"]
                if data["type"] == "snapshot":
                    self.books[symbol] = ({}, {})
                else:
                    assert data["prev_change_id"] == self.last[symbol]
                self.last[symbol] = data["change_id"]
                self._apply(symbol, data)
            case "trades":
                for row in data:
                    self.traded(row["instrument_name"], row["price"], row["direction"] == "sell")
            case "ticker":
                sizes = data["best_bid_amount"], data["best_ask_amount"]
                self.quoted(data["instrument_name"], data["best_bid_price"], sizes[0], data["best_ask_price"], sizes[1])

    def _apply(self, symbol: str, data: dict[str, Any]) -> None:
        for side, levels in zip(self.books[symbol], (data["bids"], data["asks"]), strict=True):
            for action, price, amount in levels:
                if action == "delete":
                    del side[price]
                else:
                    side[price] = str(amount)
        self.changed(symbol)


READERS: dict[str, type[Reader]] = {"bitmex": BitmexReader, "binance": BinanceReader, "deribit": DeribitReader}


@pytest.mark.parametrize("exchange", list(FEEDS))
@pytest.mark.parametrize(("mode", "count"), [("classic", 3), ("scaled", 1), ("scaled", 40)])
def test_books_quotes_and_trades_agree(exchange: str, mode: Literal["classic", "scaled"], count: int) -> None:
    recipe = Recipe(mode, "x", rate=1_500, symbol_count=count, disconnect_every=2)
    feed, reader, previous = recipe.start(exchange, DAY), READERS[exchange](), ""
    for number in range(2):
        for line in recipe.next_minute(feed, DAY, number).text.decode().splitlines():
            if line:
                time, _, text = line.partition(" ")
                assert len(time) == 28
                assert previous[:26] <= time[:26]
                previous = time
                reader.read(json.loads(text))
    assert len(reader.books) == count
    assert min(reader.checked.values()) > 50


def test_scaled_data_has_its_own_symbols_and_depends_on_their_number() -> None:
    few, many = (Recipe("scaled", "x", 200, count, 0) for count in (2, 200))
    assert [s.name for s in few.symbols("binance")] == ["btcusdt", "ethusdt"]
    names = [s.name for s in many.symbols("binance")]
    assert len(set(names)) == 200
    assert len({symbol.lower() for symbol in names}) == 200
    assert few.key != many.key
    assert few.next_minute(few.start("binance", DAY), DAY, 0).text != many.next_minute(many.start("binance", DAY), DAY, 0).text


@settings(max_examples=25, deadline=None)
@given(st.integers(), st.integers(30, 200), st.integers(1, 1_500))
def test_a_book_is_never_crossed_and_knows_its_best_prices(seed: int, depth: int, changes: int) -> None:
    book = Book(random.Random(seed), 300, depth, lambda rng: rng.randrange(1, 100))
    for _ in range(changes):
        what, is_bid, tick, amount = book.change()
        side = book.bids if is_bid else book.asks
        assert (tick not in side) if what == "delete" else side[tick] == amount
        assert book.best_bid < book.best_ask
    assert (book.best_bid, book.best_ask) == (max(book.bids), min(book.asks))
    assert min(book.bids) >= 1


@pytest.mark.parametrize("exchange", list(FEEDS))
def test_a_checkpoint_goes_on_where_it_was_taken(exchange: str) -> None:
    recipe = Recipe("classic", "7", rate=200, symbol_count=3, disconnect_every=0)
    feed = recipe.start(exchange, DAY)
    recipe.next_minute(feed, DAY, 0)
    saved = json.loads(json.dumps(feed.checkpoint()))
    other = recipe.start(exchange, DAY)
    other.restore(saved)
    assert recipe.next_minute(other, DAY, 1) == recipe.next_minute(feed, DAY, 1)
