"""Raw lines -> records in plain Python: the fallback without a compiler, the second look at whatever surprises the compiled
scanner, and its oracle in tests. `_c/scan.pyx` is the compiled twin."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Raw

from .errors import MappingError
from .levels import each_level
from .numbers import js_number
from .records import Disconnect, Layout, Levels, Record
from .rules import Mapper, Misfit, Rule, Take, Want
from .times import TICKS_FROM, parse_local, parse_time

TIME_LENGTH = 28
_object = msgspec.json.Decoder(dict[str, Raw]).decode
_objects = msgspec.json.Decoder(list[dict[str, Raw]]).decode
_anything = msgspec.json.Decoder(Raw).decode
_string = msgspec.json.Decoder(str).decode

Row = Mapping[str, Raw]


def map_block(mapper: Mapper, block: bytes, out: list[Record], last: int | None) -> int | None:
    """Appends the records of a block of whole lines, each `<28 characters of local time> <message>`; an empty line is a disconnect.

    -> the last local time seen, to be handed to the next call: a disconnect is stamped with it. A disconnect right after another,
    or before any message, is no news and leaves no record. What was mapped before an error stays in `out`.
    """
    for line in block.removesuffix(b"\n").split(b"\n") if block else ():
        if line:
            mapper.disconnected = False
            last = local_time(mapper.exchange, line)
            out.extend(map_message(mapper, line, last))
        else:
            disconnect(mapper, out, last)
    return last


def local_time(exchange: str, line: bytes) -> int:
    try:
        if line[TIME_LENGTH : TIME_LENGTH + 1] != b" ":
            raise ValueError("no blank behind the time")
        return parse_local(line[:TIME_LENGTH].decode())
    except ValueError as error:
        raise MappingError(exchange, None, f"a line must begin with its local time: {error}", line) from error


def disconnect(mapper: Mapper, out: list[Record], last: int | None) -> None:
    if last is not None and not mapper.disconnected:
        out.append(Disconnect(mapper.exchange, None, last))
    mapper.disconnected = True
    mapper.reset()


def map_message(mapper: Mapper, line: bytes, local: int) -> list[Record]:
    """Whatever a rule, a hook or `map` trips over is about this line, so the error names it."""
    message = line[TIME_LENGTH + 1 :]
    try:
        if bytes(_anything(message)).startswith(b"{"):
            top = _object(message)
            for rule in mapper.rules:
                made = by_rule(rule, mapper, top, local)
                if made is not None:
                    return made
        return list(mapper.map(message, local))
    except Exception as error:
        raise MappingError(mapper.exchange, local, f"{type(error).__name__}: {error}", line) from error


def by_rule(rule: Rule, mapper: Mapper, top: Row, local: int) -> list[Record] | None:
    """None: the message does not fit."""
    try:
        for path, text in rule.when.items():
            _match(_scalar(_walk(top, path)), text)
        rows = _rows(top, rule)
        made = [tuple([_read(take, top, row, local, rule.layout) for take in rule.takes]) for row in rows]
        extra = [[_read(take, top, row, local, rule.layout) for take in rule.extra] for row in rows or [{}]]
    except (Misfit, msgspec.DecodeError):
        return None
    if rule.into is tuple:
        assert rule.then is not None
        return list(rule.then(mapper, made, local, *extra[0]))
    records = [rule.into(mapper.exchange, *values[1:]) for values in made]
    if rule.then is None:
        return records
    changed = [rule.then(mapper, record, *more) for record, more in zip(records, extra, strict=False)]
    return [record for record in changed if record is not None]


def _match(text: str | None, wanted: str) -> None:
    if text is None or (text != wanted and not (wanted.endswith("*") and text.startswith(wanted[:-1]))):
        raise Misfit


def _walk(top: Row, path: str) -> Raw:
    *parents, name = path.split(".")
    for parent in parents:
        top = _object(_member(top, parent))
    return _member(top, name)


def _member(row: Row, key: str) -> Raw:
    try:
        return row[key]
    except KeyError:
        raise Misfit from None


def _rows(top: Row, rule: Rule) -> list[Any]:
    if not rule.at:
        return [top]
    found = _walk(top, rule.at)
    return _objects(found) if bytes(found).startswith(b"[") else [_object(found)]


def _scalar(raw: Raw) -> str | None:
    """The text of a string, number or literal; None for null."""
    text = bytes(raw)
    if text[:1] == b'"':
        return _string(text)
    if text[:1] in (b"[", b"{"):
        raise Misfit
    return None if text == b"null" else text.decode()


def _read(take: Take, top: Row, row: Row, local: int, layout: Layout) -> object:
    if take.want is Want.CONST:
        return take.constant
    if take.want is Want.LOCAL:
        return local
    raw = _find(take, top, row)
    if take.want is Want.EXTRA and raw is not None and bytes(raw)[:1] in (b"[", b"{"):
        return None
    text = None if raw is None else _levels_text(raw) if take.want is Want.LEVELS else _scalar(raw)
    if take.want is Want.CHOICE:
        return _choose(take, text)
    if raw is None or text is None:
        if take.optional:
            return None
        raise Misfit
    return _levels(raw, layout) if take.want is Want.LEVELS else _convert(take.want, text, raw)


def _find(take: Take, top: Row, row: Row) -> Raw | None:
    if not take.root:
        return row.get(take.key)
    try:
        return _walk(top, take.key)
    except Misfit:
        return None


def _choose(take: Take, text: str | None) -> object:
    value = take.other if text is None else take.values.get(text, take.other)
    if value is Misfit:
        raise Misfit
    return value


def _convert(want: Want, text: str, raw: Raw) -> object:
    literal = bytes(raw) in (b"true", b"false")
    if want is Want.FLAG:
        if not literal:
            raise Misfit
        return text == "true"
    if want is Want.PLAIN:
        return text
    if want is Want.EXTRA:
        return int(text) if text.isascii() and text.isdigit() and len(text) <= 18 else text
    if literal:
        raise Misfit
    if want is Want.TIME:
        return _time(text)
    return text if want is Want.DECIMAL or bytes(raw).startswith(b'"') else js_number(text)


def _time(text: str) -> int:
    if text.isascii() and text.isdigit():
        value = int(text) if len(text) <= 16 else TICKS_FROM
        if value >= TICKS_FROM:
            raise Misfit
        return value
    try:
        return parse_time(text)
    except ValueError:
        raise Misfit from None


def _levels_text(raw: Raw) -> str | None:
    text = bytes(raw)
    if text == b"null":
        return None
    if not text.startswith(b"["):
        raise Misfit
    return ""


def _levels(raw: Raw, layout: Layout) -> Levels:
    """The exchange's own bytes; only where they hold escapes they are read here, since the encoders copy texts as they are."""
    if b"\\" not in bytes(raw):
        return bytes(raw)
    return [(_plain(price), _plain(amount)) for price, amount in each_level(raw, layout)]


def _plain(value: object) -> str | None:
    return _scalar(value) if isinstance(value, Raw) else None if value is None else str(value)
