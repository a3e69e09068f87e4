"""What the three exchanges share: symbols, books, the rhythm of a minute, checkpoints."""

import random
from abc import ABC, abstractmethod
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, ClassVar

from tardis_simulator.book import Amount, Book
from tardis_simulator.wire import iso_second

MINUTE_US = 60_000_000

# Tags say which channel and symbol a line belongs to, so that filters need not parse lines.
DISCONNECT = 0xFFFF
Tag = tuple[str, str] | None
Tagged = tuple[Tag, str]


@dataclass(frozen=True)
class Symbol:
    """A symbol with its first mid price in ticks, its tick size and how often it gets a message."""

    name: str
    mid: int
    tick: float
    weight: float


@dataclass(frozen=True)
class Minute:
    """One minute of a feed: the text and a tag per line."""

    text: bytes
    tags: "array[int]"


class _Lines:
    """Collects the lines of a minute, each with its local time in 100 ns."""

    def __init__(self, tag_numbers: dict[Tag, int]) -> None:
        self._numbers = tag_numbers
        self._second, self._prefix = -1, ""
        self.lines: list[str] = []
        self.tags = array("H")

    def put(self, us: int, tag: Tag, text: str) -> None:
        second, fraction = divmod(us, 1_000_000)
        if second != self._second:
            self._second, self._prefix = second, iso_second(second)
        self.lines.append(f"{self._prefix}.{fraction:06d}{(us * 7) % 10}Z {text}")
        self.tags.append(self._numbers[tag])

    def disconnect(self) -> None:
        self.lines.append("")
        self.tags.append(DISCONNECT)

    def minute(self) -> Minute:
        return Minute("".join(f"{line}\n" for line in self.lines).encode(), self.tags)


class Feed(ABC):
    """A day of one exchange. The order in which random numbers are drawn defines the data: do not reorder draws."""

    name: ClassVar[str]
    channels: ClassVar[tuple[str, ...]]
    # What clients may ask for although nothing is made up for it.
    known_channels: ClassVar[tuple[str, ...]]
    depth: ClassVar[int]
    listed: ClassVar[tuple[Symbol, ...]]
    # Attributes, each a number per symbol, that a checkpoint keeps.
    counters: ClassVar[tuple[str, ...]] = ()

    def __init__(self, rng: random.Random, symbols: Sequence[Symbol], depth: int) -> None:
        self.rng = rng
        self.sequence = rng.randrange(10**8, 10**9)
        self.books = {s.name: Book(rng, s.mid, depth, self.size) for s in symbols}
        self.ticks = {s.name: s.tick for s in symbols}
        self.names = [s.name for s in symbols]
        self._cumulative = list(accumulate(s.weight for s in symbols))
        self._tag_numbers: dict[Tag, int] = {tag: i for i, tag in enumerate(self.tags(self.names))}
        self._tag_numbers[None] = len(self._tag_numbers)

    @classmethod
    def tags(cls, names: Sequence[str]) -> list[tuple[str, str]]:
        """Tags in the order of their numbers."""
        return [(channel, name) for channel in cls.channels for name in names]

    @staticmethod
    @abstractmethod
    def size(rng: random.Random) -> Amount:
        """A made-up amount."""

    @staticmethod
    @abstractmethod
    def invented(i: int) -> Symbol:
        """The i-th symbol beyond the listed ones."""

    @staticmethod
    @abstractmethod
    def instrument(symbol: Symbol) -> dict[str, object]:
        """What the vendor's instrument list says about a symbol, beside the fields that all exchanges share."""

    @abstractmethod
    def connect(self, us: int) -> Iterator[Tagged]:
        """What the exchange sends to a new connection: greetings and full books."""

    @abstractmethod
    def message(self, symbol: str, us: int) -> Tagged:
        """One ordinary message."""

    def price(self, symbol: str, tick: int) -> float:
        return round(tick * self.ticks[symbol], 8)

    def minute(self, start_us: int, rate: int, *, first: bool, disconnect: bool) -> Minute:
        """The next minute: `rate` messages, after a greeting in the first one and around a reconnect where wanted."""
        rng, out = self.rng, _Lines(self._tag_numbers)
        us, last = start_us, start_us + MINUTE_US - 1
        mean_gap = MINUTE_US / rate
        if first:
            us = self._connect(out, us, last)
        cut = rng.randrange(rate) if disconnect else -1
        for n in range(rate):
            us = min(us + int(rng.expovariate(1.0 / mean_gap)) + 1, last)
            if n == cut:
                out.disconnect()
                us = self._connect(out, us, last)
            symbol = rng.choices(self.names, cum_weights=self._cumulative)[0]
            out.put(us, *self.message(symbol, us))
        return out.minute()

    def _connect(self, out: _Lines, us: int, last: int) -> int:
        # Texts carry the time at which the connection was opened, lines the time at which they arrived.
        for tag, text in self.connect(us):
            us = min(us + self.rng.randrange(50, 900), last)
            out.put(us, tag, text)
        return us

    def checkpoint(self) -> dict[str, Any]:
        """All state as plain JSON values."""
        version, internal, gauss = self.rng.getstate()
        return {
            "rng": [version, list(internal), gauss],
            "sequence": self.sequence,
            "books": {name: book.checkpoint() for name, book in self.books.items()},
            "counters": {name: getattr(self, name) for name in self.counters},
        }

    def restore(self, saved: dict[str, Any]) -> None:
        version, internal, gauss = saved["rng"]
        self.rng.setstate((version, tuple(internal), gauss))
        self.sequence = saved["sequence"]
        for name, book in self.books.items():
            book.restore(saved["books"][name])
        for name in self.counters:
            setattr(self, name, saved["counters"][name])
