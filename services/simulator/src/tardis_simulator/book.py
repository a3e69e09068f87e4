"""An order book on an integer tick grid that changes at random and is never crossed."""

import random
from collections.abc import Callable
from typing import Any, Literal

Amount = int | float | str
Change = tuple[Literal["update", "insert", "delete"], bool, int, Amount]

# A side that got this thin keeps its levels, so that there is always a best price.
THIN = 30


class Book:
    """`size` makes up an amount; the order of random draws is part of the data's definition."""

    def __init__(self, rng: random.Random, mid: int, depth: int, size: Callable[[random.Random], Amount]) -> None:
        self.rng = rng
        self.size = size
        self.bids: dict[int, Amount] = {}
        self.asks: dict[int, Amount] = {}
        self.best_bid, self.best_ask = mid - 1, mid + 1
        for i in range(depth):
            if i < 20 or rng.random() < 0.8:
                self.bids[self.best_bid - i] = size(rng)
            if i < 20 or rng.random() < 0.8:
                self.asks[self.best_ask + i] = size(rng)

    def top(self) -> tuple[int, Amount, int, Amount]:
        """Best bid and its amount, best ask and its amount."""
        return self.best_bid, self.bids[self.best_bid], self.best_ask, self.asks[self.best_ask]

    def change(self) -> Change:
        """Change one level near the top and tell which: what, whether a bid, tick, amount."""
        is_bid, tick = self._pick()
        side = self.bids if is_bid else self.asks
        if tick not in side:
            amount = self.size(self.rng)
            self._insert(is_bid, tick, amount)
            return "insert", is_bid, tick, amount
        if self.rng.random() < 0.2 and self._remove(is_bid, tick):
            return "delete", is_bid, tick, 0
        side[tick] = amount = self.size(self.rng)
        return "update", is_bid, tick, amount

    def _pick(self) -> tuple[bool, int]:
        rng = self.rng
        distance = int(rng.expovariate(0.08))
        is_bid = rng.random() < 0.5
        # At distance 0 a gap in the spread is mostly narrowed by one tick; both sides need a gap, so they never meet.
        inside = 1 if distance == 0 and self.best_ask - self.best_bid > 1 and rng.random() < 0.8 else 0
        if is_bid:
            return True, max(self.best_bid - distance + inside, 1)
        return False, self.best_ask + distance - inside

    def _insert(self, is_bid: bool, tick: int, amount: Amount) -> None:
        if is_bid:
            self.bids[tick] = amount
            self.best_bid = max(self.best_bid, tick)
        else:
            self.asks[tick] = amount
            self.best_ask = min(self.best_ask, tick)

    def _remove(self, is_bid: bool, tick: int) -> bool:
        side = self.bids if is_bid else self.asks
        if len(side) < THIN:
            return False
        del side[tick]
        while self.best_bid not in self.bids:
            self.best_bid -= 1
        while self.best_ask not in self.asks:
            self.best_ask += 1
        return True

    def checkpoint(self) -> dict[str, Any]:
        return {"bids": list(self.bids.items()), "asks": list(self.asks.items()), "best": [self.best_bid, self.best_ask]}

    def restore(self, saved: dict[str, Any]) -> None:
        self.bids = dict(saved["bids"])
        self.asks = dict(saved["asks"])
        self.best_bid, self.best_ask = saved["best"]
