"""Deribit: JSON-RPC notifications; book changes are chained by change ids."""

import random
from collections.abc import Iterator, Sequence

from tardis_simulator.feeds.base import Feed, Symbol, Tagged

_HEAD = '{"jsonrpc":"2.0","method":"subscription","params":{"channel":"'
_ACTIONS = {"update": "change", "insert": "new", "delete": "delete"}


class Deribit(Feed):
    name = "deribit"
    depth = 600
    channels = ("trades", "book", "ticker")
    known_channels = (
        *channels,
        "quote",
        "deribit_price_index",
        "deribit_price_ranking",
        "estimated_expiration_price",
        "markprice.options",
        "perpetual",
        "platform_state",
        "instrument.state",
    )
    listed = (
        Symbol("BTC-PERPETUAL", 18700, 0.5, 60),
        Symbol("ETH-PERPETUAL", 3600, 0.05, 30),
        Symbol("BTC-28FEB20", 18900, 0.5, 10),
    )
    counters = ("change_ids", "trade_sequences")

    def __init__(self, rng: random.Random, symbols: Sequence[Symbol], depth: int) -> None:
        super().__init__(rng, symbols, depth)
        self.change_ids = {name: 15_000_000_000 + i * 1_000_000 for i, name in enumerate(self.names)}
        self.trade_sequences = {name: 40_000_000 + i * 1_000_000 for i, name in enumerate(self.names)}

    @staticmethod
    def size(rng: random.Random) -> float:
        return float((int(rng.lognormvariate(6, 1.5)) + 1) * 10)

    @staticmethod
    def invented(i: int) -> Symbol:
        return Symbol(f"SIM{i:04d}-PERPETUAL", 4_000 + i * 7_919 % 40_000, (0.5, 0.05)[i % 2], 10 / (i + 2))

    @staticmethod
    def instrument(symbol: Symbol) -> dict[str, object]:
        base, _, term = symbol.name.partition("-")
        dated = term != "PERPETUAL"
        facts: dict[str, object] = {
            "baseCurrency": base,
            "quoteCurrency": "USD",
            "type": "future" if dated else "perpetual",
            "amountIncrement": 10 if base == "BTC" else 1,
            "minTradeAmount": 10 if base == "BTC" else 1,
            "makerFee": -0.00025 if not dated else -0.0002,
            "takerFee": 0.00075 if not dated else 0.0005,
            "inverse": True,
            "contractMultiplier": 10 if base == "BTC" else 1,
            "settlementCurrency": base,
        }
        return facts | {"expiry": "2020-02-28T08:00:00.000Z"} if dated else facts

    def connect(self, us: int) -> Iterator[Tagged]:
        yield (
            None,
            '{"jsonrpc":"2.0","id":1,"result":["trades.BTC-PERPETUAL.raw"],"usIn":1580515200000000,"usOut":1580515200000100,'
            '"usDiff":100,"testnet":false}',
        )
        for symbol in self.names:
            book = self.books[symbol]
            bids = ",".join(f'["new",{self.price(symbol, t)},{book.bids[t]}]' for t in sorted(book.bids, reverse=True))
            asks = ",".join(f'["new",{self.price(symbol, t)},{book.asks[t]}]' for t in sorted(book.asks))
            yield (
                ("book", symbol),
                f'{_HEAD}book.{symbol}.raw","data":{{"type":"snapshot","timestamp":{us // 1000},'
                f'"instrument_name":"{symbol}","change_id":{self.change_ids[symbol]},"bids":[{bids}],"asks":[{asks}]}}}}}}',
            )

    def message(self, symbol: str, us: int) -> Tagged:
        rng = self.rng
        kind = rng.random()
        ms = us // 1000 - rng.randrange(1, 25)
        if kind < 0.65:
            return ("book", symbol), self._book_change(symbol, ms)
        mark = round(self.price(symbol, self.books[symbol].best_bid) + self.ticks[symbol] * rng.random(), 2)
        index = round(mark - 3.17, 2)
        if kind < 0.72:
            return ("trades", symbol), self._trades(symbol, ms, index)
        return ("ticker", symbol), self._ticker(symbol, ms, mark, index)

    def _book_change(self, symbol: str, ms: int) -> str:
        rng, book = self.rng, self.books[symbol]
        bids: list[str] = []
        asks: list[str] = []
        for _ in range(1 + int(rng.expovariate(1.0))):
            action, is_bid, tick, amount = book.change()
            (bids if is_bid else asks).append(f'["{_ACTIONS[action]}",{self.price(symbol, tick)},{float(amount)}]')
        previous = self.change_ids[symbol]
        self.change_ids[symbol] += rng.randrange(1, 40)
        return (
            f'{_HEAD}book.{symbol}.raw","data":{{"type":"change","timestamp":{ms},"prev_change_id":{previous},'
            f'"instrument_name":"{symbol}","change_id":{self.change_ids[symbol]},"bids":[{",".join(bids)}],"asks":[{",".join(asks)}]}}}}}}'
        )

    def _trades(self, symbol: str, ms: int, index: float) -> str:
        rng, book = self.rng, self.books[symbol]
        sell = rng.random() < 0.5
        price = self.price(symbol, book.best_bid if sell else book.best_ask)
        rows = []
        for _ in range(1 + int(rng.expovariate(1.5))):
            self.trade_sequences[symbol] += 1
            sequence = self.trade_sequences[symbol]
            liquidation = ',"liquidation":"T"' if rng.random() < 0.01 else ""
            rows.append(
                f'{{"trade_seq":{sequence},"trade_id":"{sequence + 21000000}","timestamp":{ms},"tick_direction":{rng.randrange(4)},'
                f'"price":{price},"instrument_name":"{symbol}","index_price":{index},"direction":"{"sell" if sell else "buy"}"'
                f'{liquidation},"amount":{self.size(rng)}}}'
            )
        return f'{_HEAD}trades.{symbol}.raw","data":[{",".join(rows)}]}}}}'

    def _ticker(self, symbol: str, ms: int, mark: float, index: float) -> str:
        rng = self.rng
        bid, bid_size, ask, ask_size = self.books[symbol].top()
        bid_price = self.price(symbol, bid)
        self.sequence += 1
        return (
            f'{_HEAD}ticker.{symbol}.raw","data":{{"timestamp":{ms},"stats":{{"volume":{self.sequence / 7:.2f},'
            f'"low":9270.0,"high":9480.0}},"state":"open","settlement_price":9345.59,"open_interest":{self.sequence}.0,'
            f'"min_price":{mark * 0.985:.2f},"max_price":{mark * 1.015:.2f},"mark_price":{mark},"last_price":{bid_price},'
            f'"instrument_name":"{symbol}","index_price":{index},"funding_8h":{rng.random() / 1e5:.8f},'
            f'"current_funding":{rng.random() / 1e4:.8f},"best_bid_price":{bid_price},"best_bid_amount":{bid_size},'
            f'"best_ask_price":{self.price(symbol, ask)},"best_ask_amount":{ask_size}}}}}}}'
        )
