"""A recipe says which data is made up; equal recipes give equal bytes on every machine."""

import hashlib
import random
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Literal

from tardis_simulator.feeds import FEEDS, Feed, Minute, Symbol
from tardis_simulator.feeds.base import MINUTE_US

if TYPE_CHECKING:
    from tardis_settings import SimulatorOptions  # workers start sooner without it

# Part of every seed: a change of the generators that changes data must raise it.
CLASSIC_VERSION = 3
SCALED_VERSION = 1

# In mode scaled the books of all symbols together hold about this many levels per side.
SCALED_LEVELS = 12_000


@dataclass(frozen=True)
class Recipe:
    """The settings that the data depends on, and nothing else."""

    mode: Literal["classic", "scaled"]
    seed: str
    rate: int
    symbol_count: int
    disconnect_every: int

    @classmethod
    def of(cls, options: "SimulatorOptions") -> "Recipe":
        return cls(options.mode, options.seed, options.rate, options.symbols, options.disconnect_every)

    @property
    def key(self) -> str:
        """A folder name for data of this recipe."""
        version = CLASSIC_VERSION if self.mode == "classic" else SCALED_VERSION
        seed = hashlib.sha256(self.seed.encode()).hexdigest()[:12]
        size = "" if self.mode == "classic" else f"-symbols{self.symbol_count}"
        return f"{self.mode}{version}-seed{seed}-rate{self.rate}-disconnect{self.disconnect_every}{size}"

    def symbols(self, exchange: str) -> list[Symbol]:
        feed = FEEDS[exchange]
        if self.mode == "classic":
            return list(feed.listed)
        invented = (feed.invented(i) for i in range(self.symbol_count - len(feed.listed)))
        return [*feed.listed[: self.symbol_count], *invented]

    def start(self, exchange: str, day: date) -> Feed:
        """The feed as it stands at 00:00 of a day."""
        feed, symbols = FEEDS[exchange], self.symbols(exchange)
        if self.mode == "classic":
            return feed(random.Random(f"{CLASSIC_VERSION}:{self.seed}:{exchange}:{day}"), symbols, feed.depth)
        depth = min(max(SCALED_LEVELS // len(symbols), 40), feed.depth)
        return feed(random.Random(f"scaled:{SCALED_VERSION}:{self.seed}:{len(symbols)}:{exchange}:{day}"), symbols, depth)

    def next_minute(self, feed: Feed, day: date, number: int) -> Minute:
        """Minute `number` of a day; the feed must stand at its beginning."""
        start = int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()) * 1_000_000
        every = self.disconnect_every
        reconnects = bool(every) and number % every == every - 1
        return feed.minute(start + number * MINUTE_US, self.rate, first=number == 0, disconnect=reconnects)
