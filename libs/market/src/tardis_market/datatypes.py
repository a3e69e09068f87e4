"""The `dataTypes` of a request: plain ones, and computables by name. Nothing is computed here."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from .errors import InvalidDataType
from .numbers import nearest

PLAIN = ("trade", "book_change", "derivative_ticker", "liquidation", "option_summary", "book_ticker")

_MILLISECONDS = {"ms": 1, "s": 1000, "m": 60_000}
# Suffixes are tried in this order: "ticks" also ends with "s", "ms" also with "s".
_BAR_SUFFIXES = ("ticks", "ms", "s", "m", "vol")
_TIME_SUFFIXES = ("ms", "s", "m")
_BAR_KINDS = {"ticks": "tick", "vol": "volume"}

Number: TypeAlias = int | float


@dataclass(frozen=True)
class TradeBarSpec:
    """`trade_bar_10ticks`, `trade_bar_1m`, `trade_bar_100vol`; the interval of time bars is in milliseconds."""

    name: str
    kind: str
    interval: Number
    source = "trade"


@dataclass(frozen=True)
class SnapshotSpec:
    """`book_snapshot_<depth>[_grouped<step>]_<interval>` and `quote[_<interval>]`; 0 ms means: at each change."""

    name: str
    depth: Number
    interval: Number
    grouping: Number | None = None
    source = "book_change"


Computable: TypeAlias = TradeBarSpec | SnapshotSpec


@dataclass(frozen=True)
class DataTypes:
    """`plain` is what the client asked to see, `computables` what is made on top."""

    plain: tuple[str, ...]
    computables: tuple[Computable, ...]

    @property
    def mapped(self) -> tuple[str, ...]:
        """What the mapper must yield for both."""
        needed = {*self.plain, *(computable.source for computable in self.computables)}
        return tuple(data_type for data_type in PLAIN if data_type in needed)


def parse_data_types(names: Iterable[str]) -> DataTypes:
    """Unknown names beside known ones are ignored, as clients are used to."""
    names = list(dict.fromkeys(names))
    computables = [computable for name in names if (computable := _computable(name)) is not None]
    plain = [name for name in names if name in PLAIN]
    if not plain and not computables:
        raise InvalidDataType("Can't normalize data without any normalizers provided")
    return DataTypes(tuple(plain), tuple(computables))


def _computable(name: str) -> Computable | None:
    if name.startswith("trade_bar"):
        return _trade_bar(name)
    if name.startswith("book_snapshot"):
        return _snapshot(name)
    if name == "quote":
        return SnapshotSpec(name, depth=1, interval=0)
    if name.startswith("quote"):
        interval, suffix = _interval(name, _TIME_SUFFIXES)
        return SnapshotSpec(name, depth=1, interval=_whole(interval * _MILLISECONDS[suffix]))
    return None


def _trade_bar(name: str) -> TradeBarSpec:
    interval, suffix = _interval(name, _BAR_SUFFIXES)
    return TradeBarSpec(name, _BAR_KINDS.get(suffix, "time"), _whole(interval * _MILLISECONDS.get(suffix, 1)))


def _snapshot(name: str) -> SnapshotSpec:
    suffix = _suffix(name, _TIME_SUFFIXES)
    parts = name.split("_")
    depth = _number(parts[2] if len(parts) > 2 else "", "depth", name)
    grouping = None
    if len(parts) > 3 and parts[3].startswith("grouped"):
        grouping = _whole(_number(parts[3].removeprefix("grouped"), "interval", name))
    interval = _number(parts[-1].removesuffix(suffix), "interval", name)
    return SnapshotSpec(name, _whole(depth), _whole(interval * _MILLISECONDS[suffix]), grouping)


def _interval(name: str, suffixes: tuple[str, ...]) -> tuple[float, str]:
    suffix = _suffix(name, suffixes)
    return _number(name.rpartition("_")[2].removesuffix(suffix), "interval", name), suffix


def _suffix(name: str, suffixes: tuple[str, ...]) -> str:
    suffix = next((suffix for suffix in suffixes if name.endswith(suffix)), None)
    if suffix is None:
        raise InvalidDataType(f"invalid data type: {name}")
    return suffix


def _number(text: str, what: str, name: str) -> float:
    value = nearest(text)
    if math.isnan(value):
        raise InvalidDataType(f"invalid {what}: {text}, data type: {name}")
    return value


def _whole(value: float) -> Number:
    return int(value) if value.is_integer() else value
