"""Binance spot: combined streams; book changes carry first and last update id."""

import random
from collections.abc import Iterator, Sequence

from tardis_simulator.book import Amount
from tardis_simulator.feeds.base import Feed, Symbol, Tagged


class Binance(Feed):
    name = "binance"
    depth = 800
    channels = ("trade", "depth", "depthSnapshot", "bookTicker")
    known_channels = (*channels, "aggTrade", "ticker", "miniTicker", "recentTrades", "borrowInterest")
    listed = (Symbol("btcusdt", 935000, 0.01, 60), Symbol("ethusdt", 18100, 0.01, 30), Symbol("bnbusdt", 181000, 0.0001, 10))
    counters = ("update_ids", "trade_ids")

    def __init__(self, rng: random.Random, symbols: Sequence[Symbol], depth: int) -> None:
        super().__init__(rng, symbols, depth)
        self.update_ids = {name: 1_600_000_000 + i * 7_000_000 for i, name in enumerate(self.names)}
        self.trade_ids = {name: 240_000_000 + i * 9_000_000 for i, name in enumerate(self.names)}

    @staticmethod
    def size(rng: random.Random) -> str:
        return f"{rng.lognormvariate(-2.0, 1.6) + 0.000001:.6f}00"

    @staticmethod
    def invented(i: int) -> Symbol:
        return Symbol(f"sim{i:04d}usdt", 10_000 + i * 7_919 % 90_000, (0.01, 0.0001, 0.00001)[i % 3], 10 / (i + 2))

    @staticmethod
    def instrument(symbol: Symbol) -> dict[str, object]:
        return {
            "baseCurrency": symbol.name.removesuffix("usdt").upper(),
            "quoteCurrency": "USDT",
            "type": "spot",
            "amountIncrement": 0.000001,
            "minTradeAmount": 0.000001,
            "makerFee": 0.001,
            "takerFee": 0.001,
        }

    def connect(self, us: int) -> Iterator[Tagged]:
        yield None, '{"result":null,"id":1}'
        for symbol in self.names:
            book = self.books[symbol]
            bids, asks = self._levels(symbol, book.bids, True), self._levels(symbol, book.asks, False)
            yield (
                ("depthSnapshot", symbol),
                f'{{"stream":"{symbol}@depthSnapshot","generated":true,"data":{{"lastUpdateId":{self.update_ids[symbol]},'
                f'"bids":[{bids}],"asks":[{asks}]}}}}',
            )

    def message(self, symbol: str, us: int) -> Tagged:
        rng = self.rng
        kind = rng.random()
        ms = us // 1000 - rng.randrange(2, 40)
        if kind < 0.35:
            return ("trade", symbol), self._trade(symbol, ms)
        if kind < 0.55:
            return ("depth", symbol), self._depth(symbol, ms)
        return ("bookTicker", symbol), self._book_ticker(symbol)

    def _price(self, symbol: str, tick: int) -> str:
        return f"{tick * self.ticks[symbol]:.8f}"

    def _levels(self, symbol: str, side: dict[int, Amount], best_is_highest: bool) -> str:
        return ",".join(f'["{self._price(symbol, tick)}","{side[tick]}"]' for tick in sorted(side, reverse=best_is_highest))

    def _trade(self, symbol: str, ms: int) -> str:
        rng, book = self.rng, self.books[symbol]
        self.trade_ids[symbol] += 1
        trade = self.trade_ids[symbol]
        maker = rng.random() < 0.5
        is_maker = "true" if maker else "false"
        price = self._price(symbol, book.best_bid if maker else book.best_ask)
        return (
            f'{{"stream":"{symbol}@trade","data":{{"e":"trade","E":{ms + 1},"s":"{symbol.upper()}","t":{trade},"p":"{price}",'
            f'"q":"{self.size(rng)}","b":{trade * 3 + 11},"a":{trade * 3 + 7},"T":{ms},"m":{is_maker},"M":true}}}}'
        )

    def _depth(self, symbol: str, ms: int) -> str:
        book = self.books[symbol]
        bids: dict[int, Amount] = {}
        asks: dict[int, Amount] = {}
        count = 1 + int(self.rng.expovariate(0.08))
        for _ in range(count):
            action, is_bid, tick, amount = book.change()
            (bids if is_bid else asks)[tick] = "0.00000000" if action == "delete" else amount
        first = self.update_ids[symbol] + 1
        self.update_ids[symbol] += count
        return (
            f'{{"stream":"{symbol}@depth@100ms","data":{{"e":"depthUpdate","E":{ms},"s":"{symbol.upper()}",'
            f'"U":{first},"u":{self.update_ids[symbol]},'
            f'"b":[{self._levels(symbol, bids, True)}],"a":[{self._levels(symbol, asks, False)}]}}}}'
        )

    def _book_ticker(self, symbol: str) -> str:
        bid, bid_size, ask, ask_size = self.books[symbol].top()
        self.sequence += 1
        return (
            f'{{"stream":"{symbol}@bookTicker","data":{{"u":{self.sequence},"s":"{symbol.upper()}",'
            f'"b":"{self._price(symbol, bid)}","B":"{bid_size}","a":"{self._price(symbol, ask)}","A":"{ask_size}"}}}}'
        )
