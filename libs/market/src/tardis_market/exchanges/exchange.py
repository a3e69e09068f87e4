"""What the rest of the product asks an exchange module for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, TypedDict

from ..errors import UnsupportedDataType
from ..rules import Mapper

_NORMALIZERS = {
    "trade": "normalizeTrades",
    "book_change": "normalizeBookChanges",
    "derivative_ticker": "normalizeDerivativeTickers",
    "liquidation": "normalizeLiquidations",
    "option_summary": "normalizeOptionsSummary",
    "book_ticker": "normalizeBookTickers",
}


class Filter(TypedDict, total=False):
    """What is asked of the vendor's feed; without `symbols` all are meant."""

    channel: str
    symbols: list[str]


class Since(NamedTuple):
    """The channels that carry a data type from a moment on."""

    moment: datetime | None  # None: always
    channels: tuple[str, ...]


def upper_case(symbol: str, _channel: str) -> str:
    return symbol.upper()


@dataclass(frozen=True, kw_only=True)
class Exchange:
    """`sources` lists, per data type, which channels carry it since when, latest last. `make_mapper(data_types, moment)` gives a
    fresh mapper for data from that moment on. `fold(symbol, channel)` spells a requested symbol as that channel does."""

    id: str
    channels: tuple[str, ...]
    sources: Mapping[str, tuple[Since, ...]]
    make_mapper: Callable[[frozenset[str], datetime], Mapper]
    fold: Callable[[str, str], str] = upper_case

    def filters(self, data_types: Iterable[str], symbols: Sequence[str] | None, moment: datetime) -> list[Filter]:
        """One filter per channel, in the order of the data types."""
        channels = dict.fromkeys(channel for data_type in data_types for channel in self.channels_of(data_type, moment))
        if not symbols:
            return [{"channel": channel} for channel in channels]
        return [{"channel": channel, "symbols": [self.fold(symbol, channel) for symbol in symbols]} for channel in channels]

    def channels_of(self, data_type: str, moment: datetime) -> tuple[str, ...]:
        valid = [since.channels for since in self.sources.get(data_type, ()) if since.moment is None or since.moment <= moment]
        if not valid:
            raise not_supported(self.id, data_type)
        return valid[-1]

    def mapper(self, data_types: Iterable[str], moment: datetime) -> Mapper:
        """A mapper that yields these data types only."""
        wanted = frozenset(data_types)
        for data_type in sorted(wanted):
            self.channels_of(data_type, moment)
        return self.make_mapper(wanted, moment)


def not_supported(exchange: str, data_type: str) -> UnsupportedDataType:
    """In the words that clients know."""
    return UnsupportedDataType(f"{_NORMALIZERS.get(data_type, data_type)}: {exchange} not supported")
