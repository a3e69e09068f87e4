"""Marks records that are equal to one before them at the same local time, so that both keep an event id of their own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from operator import attrgetter
from typing import Any

from msgspec import Raw

from .records import Record
from .tables import TABLES


class Seen:
    """The run of records with one local time. Nothing is counted while it has one record, which is nearly always."""

    __slots__ = ("_counted", "_counts", "local", "run")

    def __init__(self, first: Record, local: int) -> None:
        self.run, self.local = [first], local
        self._counts: Counter[object] | None = None  # made late: runs are many and short
        self._counted = 0

    def count(self, record: Record) -> int:
        """How many records of the run equal this one, which belongs to it from now on."""
        if self._counts is None:
            self._counts = Counter()
        self._counts.update(map(identity, self.run[self._counted :]))
        self.run.append(record)
        self._counted = len(self.run) - 1
        return self._counts[identity(record)]


def mark_repeats(records: list[Record], carry: Seen | None) -> Seen | None:
    """Sets `repeat` on each record. -> what the next call needs to go on with the same local time."""
    for record in records:
        local: int = record.local_timestamp  # type: ignore[attr-defined]
        if carry is None or carry.local != local:
            carry = Seen(record, local)
        else:
            record.repeat = carry.count(record)  # type: ignore[attr-defined]
    return carry


def identity(record: Record) -> object:
    """Equal for records whose type and identity fields are equal."""
    kind = type(record)
    return kind, tuple([_hashable(value) for value in _VALUES[kind](record)])


def _hashable(value: object) -> object:
    if isinstance(value, list):
        return tuple([tuple(map(_hashable, item)) if isinstance(item, tuple) else item for item in value])
    return bytes(value) if isinstance(value, Raw) else value


#: The attributes that make up a record's identity, in the order in which they stand in its table.
IDENTITY = {table.record: tuple(dict.fromkeys(field.attr for field in table.fields if field.identity)) for table in TABLES}
_VALUES: dict[type, Callable[[Any], tuple[object, ...]]] = {kind: attrgetter(*attrs) for kind, attrs in IDENTITY.items()}
