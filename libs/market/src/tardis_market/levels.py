"""The levels of a book change, in whatever form the mapper left them, as (price, amount). `_c/levels.pxd` is the compiled twin."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

import msgspec
from msgspec import Raw

from .numbers import decimal_text, js_number
from .records import Decimal, Layout, Levels

Rows = TypeVar("Rows")
_arrays = msgspec.json.Decoder(list[list[Raw]]).decode
_objects = msgspec.json.Decoder(list[dict[str, Raw]]).decode


def each_level(levels: Levels, layout: Layout) -> Iterator[tuple[Decimal, Decimal]]:
    """Every digit is kept; None where a level has no such value."""
    if isinstance(levels, list):
        yield from map(_checked, levels)
    elif isinstance(layout.price, int):
        for row in _decoded(_arrays, levels):
            yield _at(row, layout.price), "0" if _deletes(row, layout.delete) else _at(row, layout.amount)
    else:
        for level in _decoded(_objects, levels):
            yield level.get(layout.price), level.get(str(layout.amount))


def levels_json(levels: Levels, layout: Layout) -> str:
    return ",".join(
        [f'{{"price":{js_number(price)},"amount":{js_number(amount)}}}' for price, amount in each_level(levels, layout)]
    )


def _decoded(decode: Callable[[Raw | bytes], Rows], levels: Raw | bytes) -> Rows:
    try:
        return decode(levels)
    except msgspec.DecodeError as error:
        raise ValueError(f"levels have another shape than their layout: {error}") from error


def _checked(pair: tuple[Decimal, Decimal]) -> tuple[Decimal, Decimal]:
    if type(pair) is not tuple or len(pair) != 2:
        raise TypeError("a level must be a tuple of price and amount")
    return pair


def _at(row: list[Raw], position: int | str) -> Raw | None:
    return row[position] if isinstance(position, int) and position < len(row) else None


def _deletes(row: list[Raw], mark: str | None) -> bool:
    return mark is not None and bool(row) and decimal_text(row[0]).startswith(mark)
