"""How an exchange's messages become records: rules (data), hooks, and a little code for the rest.

A `Rule` says: when these paths of a message have these texts, the object (or each object of the list) at that path is such a
record, each field read from the key named for it. The compiled scanner and the plain half run the same rules. What no rule takes
goes to `Mapper.map`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import IntEnum
from typing import Any, NamedTuple

from .records import PAIRS, Layout, Record
from .tables import TABLES, Kind


class Misfit(Exception):
    """A message is not what the rule expects; it goes to the next one."""


class Local:
    """The source of a field that has no time of its own: the local time of the message."""


class Const(NamedTuple):
    """A constant; needed for texts only, any other value may stand as it is."""

    value: object


class Root(NamedTuple):
    """A value outside of the row: its path from the top of the message."""

    path: str


class Choice(NamedTuple):
    """A text that is translated. One that is not in `values` does not fit the rule, unless `other` says what it means."""

    key: str | Root
    values: Mapping[str, object]
    other: object = Misfit


LOCAL = Local()


class Want(IntEnum):
    """How the value of a field is read."""

    CONST = 0
    LOCAL = 1
    TEXT = 2  # a string; a number as JavaScript prints it
    DECIMAL = 3  # a string or number, every digit kept
    TIME = 4  # ISO text, or digits that are milliseconds or microseconds
    FLAG = 5
    LEVELS = 6
    CHOICE = 7
    PLAIN = 8  # any scalar as text: what tuples are made of
    EXTRA = 9  # for hooks: an int if it is digits, else text; None if it is no scalar


class Take(NamedTuple):
    """One field of a rule, resolved: what is read from where."""

    want: Want
    key: str = ""  # of the row, or a path from the root
    root: bool = False
    optional: bool = False
    constant: object = None
    values: Mapping[str, object] = {}
    other: object = Misfit


_WANTS = {
    Kind.TEXT: Want.TEXT,
    Kind.CHOICE: Want.TEXT,
    Kind.NUMBER: Want.DECIMAL,
    Kind.TIME: Want.TIME,
    Kind.FLAG: Want.FLAG,
    Kind.LEVELS: Want.LEVELS,
}
_KINDS = {table.record: {field.attr: field.kind for field in table.fields} for table in TABLES}


class Rule:
    """`when`: path -> text, with a trailing * for "starts with". `at`: the path of the row or rows; "" is the message itself.

    A field is a key of the row, a `Root`, a `Choice`, `LOCAL` or a constant. A key that ends with "?" may be missing or null; any
    other must be there. `then(mapper, record, *extra)` may change the record, or drop it by returning None. With `into=tuple` the
    rows go to `then(mapper, rows, local, *extra)`, which returns records; `extra` can only be `Root`s then. Hooks run when the
    whole message has been read, so that a message that does not fit leaves no trace in the mapper.
    """

    def __init__(
        self,
        when: Mapping[str, str],
        into: type,
        *,
        at: str = "",
        then: Callable[..., Any] | None = None,
        extra: tuple[str | Root, ...] = (),
        **fields: object,
    ) -> None:
        self.when, self.into, self.at, self.then = dict(when), into, at, then
        self.takes = _tuple_takes(fields) if into is tuple else _record_takes(into, fields)
        self.layout = next((take.constant for take in self.takes if isinstance(take.constant, Layout)), PAIRS)
        self.extra = tuple(_take(Want.EXTRA, source) for source in extra)
        names = list(fields) if into is tuple else list(_names(into))
        self.symbol_at = names.index("symbol") if "symbol" in names else -1  # the one text worth keeping from line to line
        self._check()

    @property
    def row_marks(self) -> dict[str, str]:
        """The part of `when` that looks into the row itself, by key."""
        return {path.removeprefix(self._inside): text for path, text in self.when.items() if path.startswith(self._inside)}

    @property
    def root_marks(self) -> dict[str, str]:
        """The rest of `when`, by path."""
        return {path: text for path, text in self.when.items() if not path.startswith(self._inside)}

    @property
    def paths(self) -> tuple[str, ...]:
        """All that decides from outside of the fields whether a message fits."""
        return (*self.when, *(take.key for take in self.takes if take.root))

    @property
    def _inside(self) -> str:
        return f"{self.at}." if self.at else ""

    def _check(self) -> None:
        if self.into is tuple and (self.then is None or not all(take.root for take in self.extra)):
            raise ValueError("a rule for tuples needs a hook, and its extra values come from the root")
        if any(take.root and take.key.startswith(self._inside) for take in (*self.takes, *self.extra)):
            raise ValueError(f"a Root must lie outside of {self.at!r}: name the row's key instead")
        if any("." in key for key in self.row_marks):
            raise ValueError("`when` can look one key deep into the row")


class Mapper:
    """What is known about one connection of an exchange. Subclasses keep their state in what `reset` makes anew."""

    exchange: str
    rules: tuple[Rule, ...] = ()
    disconnected = False  # kept by map_block: the last line was a disconnect

    def reset(self) -> None:
        """A disconnect: whatever was learnt from the connection is void."""

    def map(self, message: bytes, local: int) -> Iterable[Record]:
        """Messages that no rule took."""
        return ()


def _take(want: Want, source: object) -> Take:
    if isinstance(source, Choice):
        inner = _take(Want.CHOICE, source.key)
        return inner._replace(values=source.values, other=source.other)
    if isinstance(source, Root):
        return _take(want, source.path)._replace(root=True)
    if isinstance(source, str):
        return Take(want, source.removesuffix("?"), optional=source.endswith("?") or want is Want.EXTRA)
    if source is LOCAL:
        return Take(Want.LOCAL)
    return Take(Want.CONST, constant=source.value if isinstance(source, Const) else source)


def _names(into: type) -> tuple[str, ...]:
    names: tuple[str, ...] = into.__struct_fields__  # type: ignore[attr-defined]
    return names


def _tuple_takes(fields: Mapping[str, object]) -> tuple[Take, ...]:
    return tuple(_take(Want.PLAIN, source) for source in fields.values())


def _record_takes(into: type, fields: Mapping[str, object]) -> tuple[Take, ...]:
    """One per field of the struct, in its order: that is how records are made, without keywords."""
    names = _names(into)
    defaults: tuple[object, ...] = into.__struct_defaults__  # type: ignore[attr-defined]
    given = {name: Const(value) for name, value in zip(names[len(names) - len(defaults) :], defaults, strict=True)}
    sources: dict[str, object] = {**dict.fromkeys(names), **given, "local_timestamp": LOCAL, **fields}
    if len(sources) != len(names):
        raise TypeError(f"{into.__name__} has no field {', '.join(sorted(set(fields) - set(names)))}")
    kinds = _KINDS[into]
    return tuple(_take(_WANTS.get(kinds.get(name, Kind.TEXT), Want.TEXT), source) for name, source in sources.items())
