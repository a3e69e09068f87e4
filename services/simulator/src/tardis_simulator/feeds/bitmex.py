"""BitMEX: tables with partial, insert, update and delete rows; book levels are named by ids."""

import random
from collections.abc import Iterator, Sequence

from tardis_simulator.book import Amount
from tardis_simulator.feeds.base import Feed, Symbol, Tagged
from tardis_simulator.wire import iso_ms, number

_FIRST_IDS = {"XBTUSD": 8_800_000_000, "ETHUSD": 29_700_000_000, "XRPUSD": 37_700_000_000}


class Bitmex(Feed):
    name = "bitmex"
    depth = 900
    channels = ("trade", "orderBookL2", "quote", "instrument")
    known_channels = (
        *channels,
        "liquidation",
        "connected",
        "chat",
        "funding",
        "insurance",
        "settlement",
        "announcement",
        "publicNotifications",
        "orderBook10",
    )
    listed = (Symbol("XBTUSD", 18700, 0.5, 70), Symbol("ETHUSD", 3600, 0.05, 22), Symbol("XRPUSD", 24000, 0.00001, 8))

    def __init__(self, rng: random.Random, symbols: Sequence[Symbol], depth: int) -> None:
        super().__init__(rng, symbols, depth)
        self._first_ids = {name: _FIRST_IDS.get(name, 40_000_000_000 + i * 100_000_000) for i, name in enumerate(self.names)}

    @staticmethod
    def size(rng: random.Random) -> int:
        return int(rng.lognormvariate(8.5, 1.8)) + 1

    @staticmethod
    def invented(i: int) -> Symbol:
        return Symbol(f"SIM{i:04d}USD", 4_000 + i * 7_919 % 40_000, (0.5, 0.05, 0.001)[i % 3], 8 / (i + 2))

    @staticmethod
    def instrument(symbol: Symbol) -> dict[str, object]:
        inverse = symbol.name == "XBTUSD"
        return {
            "baseCurrency": symbol.name.removesuffix("USD").replace("XBT", "BTC"),
            "quoteCurrency": "USD",
            "type": "perpetual",
            "amountIncrement": 1,
            "minTradeAmount": 1,
            "makerFee": -0.00025,
            "takerFee": 0.00075,
            "inverse": inverse,
            "quanto": not inverse,
            "contractMultiplier": 1 if inverse else 0.000001,
            "underlyingType": "native",
        }

    def connect(self, us: int) -> Iterator[Tagged]:
        yield (
            None,
            '{"info":"Welcome to the BitMEX Realtime API.","version":"2020-01-29T23:11:04.000Z","timestamp":"'
            + iso_ms(us)
            + '","docs":"https://www.bitmex.com/app/wsAPI","limit":{"remaining":38}}',
        )
        for symbol in self.names:
            topic = f"orderBookL2:{symbol}"
            yield None, f'{{"success":true,"subscribe":"{topic}","request":{{"op":"subscribe","args":["{topic}"]}}}}'
            yield ("orderBookL2", symbol), self._book_partial(symbol)
            yield ("instrument", symbol), self._instrument_partial(symbol, us)

    def message(self, symbol: str, us: int) -> Tagged:
        rng = self.rng
        kind = rng.random()
        if kind < 0.80:
            return ("orderBookL2", symbol), self._book_change(symbol)
        timestamp = iso_ms(us - rng.randrange(3000, 30000))
        if kind < 0.88:
            return ("trade", symbol), self._trade(symbol, timestamp)
        if kind < 0.97:
            return ("quote", symbol), self._quote(symbol, timestamp)
        return ("instrument", symbol), self._instrument_update(symbol, timestamp)

    def _row(self, symbol: str, is_bid: bool, tick: int, amount: Amount | None, with_price: bool) -> str:
        level = self._first_ids[symbol] - (tick * 50 if symbol == "XBTUSD" else tick)
        row = f'{{"symbol":"{symbol}","id":{level},"side":"{"Buy" if is_bid else "Sell"}"'
        if amount is not None:
            row += f',"size":{amount}'
        if with_price:
            row += f',"price":{number(self.price(symbol, tick))}'
        return row + "}"

    def _book_partial(self, symbol: str) -> str:
        book = self.books[symbol]
        rows = [self._row(symbol, False, tick, book.asks[tick], True) for tick in sorted(book.asks, reverse=True)]
        rows += [self._row(symbol, True, tick, book.bids[tick], True) for tick in sorted(book.bids, reverse=True)]
        return (
            '{"table":"orderBookL2","action":"partial","keys":["symbol","id","side"],"types":{"symbol":"symbol","id":"long",'
            '"side":"symbol","size":"long","price":"float"},"foreignKeys":{"symbol":"instrument","side":"side"},'
            f'"attributes":{{"symbol":"parted","id":"sorted"}},"filter":{{"symbol":"{symbol}"}},"data":[{",".join(rows)}]}}'
        )

    def _instrument_partial(self, symbol: str, us: int) -> str:
        price = number(self.price(symbol, self.books[symbol].best_bid))
        return (
            f'{{"table":"instrument","action":"partial","keys":["symbol"],"filter":{{"symbol":"{symbol}"}},"data":[{{"symbol":"{symbol}",'
            f'"state":"Open","typ":"FFWCSX","lastPrice":{price},"markPrice":{price},"indicativeSettlePrice":{price},'
            '"fundingRate":0.0001,"indicativeFundingRate":-0.000012,"fundingTimestamp":"2020-02-01T04:00:00.000Z",'
            f'"openInterest":{self._open_interest()},"timestamp":"{iso_ms(us)}"}}]}}'
        )

    def _book_change(self, symbol: str) -> str:
        action, is_bid, tick, amount = self.books[symbol].change()
        rows = [self._row(symbol, is_bid, tick, None if action == "delete" else amount, action == "insert")]
        if action == "update":
            rows += self._more_updates(symbol, tick)
        return f'{{"table":"orderBookL2","action":"{action}","data":[{",".join(rows)}]}}'

    def _more_updates(self, symbol: str, first: int) -> Iterator[str]:
        rng, book, used = self.rng, self.books[symbol], {first}
        while rng.random() < 0.35:
            is_bid = rng.random() < 0.5
            side = book.bids if is_bid else book.asks
            tick = (book.best_bid - rng.randrange(12)) if is_bid else (book.best_ask + rng.randrange(12))
            if tick in side and tick not in used:
                used.add(tick)
                side[tick] = amount = self.size(rng)
                yield self._row(symbol, is_bid, tick, amount, False)

    def _trade(self, symbol: str, timestamp: str) -> str:
        rng, book = self.rng, self.books[symbol]
        count = 1 + int(rng.expovariate(1.2))
        sell = rng.random() < 0.5
        price = number(self.price(symbol, book.best_bid if sell else book.best_ask))
        side, direction = ("Sell", "ZeroMinusTick") if sell else ("Buy", "ZeroPlusTick")
        rows = []
        for _ in range(count):
            size = self.size(rng)
            h = f"{rng.getrandbits(128):032x}"
            rows.append(
                f'{{"timestamp":"{timestamp}","symbol":"{symbol}","side":"{side}","size":{size},"price":{price},'
                f'"tickDirection":"{direction}","trdMatchID":"{h[:8]}-{h[8:12]}-{h[12:16]}-{h[16:20]}-{h[20:]}",'
                f'"grossValue":{size * 10695},"homeNotional":{size / 9350:.8f},"foreignNotional":{size}}}'
            )
        return f'{{"table":"trade","action":"insert","data":[{",".join(rows)}]}}'

    def _quote(self, symbol: str, timestamp: str) -> str:
        bid, bid_size, ask, ask_size = self.books[symbol].top()
        return (
            f'{{"table":"quote","action":"insert","data":[{{"timestamp":"{timestamp}","symbol":"{symbol}","bidSize":{bid_size},'
            f'"bidPrice":{number(self.price(symbol, bid))},"askPrice":{number(self.price(symbol, ask))},"askSize":{ask_size}}}]}}'
        )

    def _instrument_update(self, symbol: str, timestamp: str) -> str:
        self.sequence += self.rng.randrange(1, 5000)
        price = number(self.price(symbol, self.books[symbol].best_bid))
        return (
            f'{{"table":"instrument","action":"update","data":[{{"symbol":"{symbol}","openInterest":{self._open_interest()},'
            f'"markPrice":{price},"lastPrice":{price},"timestamp":"{timestamp}"}}]}}'
        )

    def _open_interest(self) -> int:
        return 800_000_000 + self.sequence % 1_000_000
