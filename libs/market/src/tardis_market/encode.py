"""Records -> JSON in plain Python, driven by the field tables. `_c/encode.pyx` is the compiled twin."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from .levels import levels_json
from .numbers import js_number
from .records import Record
from .tables import TABLES, Field, Kind, Table
from .times import time_text

_quoted = json.JSONEncoder(ensure_ascii=False).encode


def encode_ndjson(records: list[Record]) -> bytes:
    """One JSON object and a newline per record."""
    return "".join([json_text(record) + "\n" for record in records]).encode()


def encode_frames(records: list[Record]) -> bytes:
    """One unmasked WebSocket text frame per record."""
    return b"".join([_frame(json_text(record).encode()) for record in records])


def json_text(record: Record) -> str:
    try:
        start, fields = _PLANS[type(record)]
    except KeyError:
        raise TypeError(f"not a record: {type(record).__name__}") from None
    parts = [start]
    for prefix, attr, write in fields:
        value = getattr(record, attr)
        if value is not None:
            parts += (prefix, write(value, record))
    parts.append("}")
    return "".join(parts)


def _frame(payload: bytes) -> bytes:
    size = len(payload)
    if size < 126:
        return b"\x81" + size.to_bytes(1, "big") + payload
    if size < 65536:
        return b"\x81\x7e" + size.to_bytes(2, "big") + payload
    return b"\x81\x7f" + size.to_bytes(8, "big") + payload


def _text(value: object, _record: Any) -> str:
    if not isinstance(value, str | int) or isinstance(value, bool):
        raise TypeError("a text field must be str or int")
    return _quoted(str(value))


def _time(value: object, _record: Any) -> str:
    if type(value) is not int:
        raise TypeError("a time must be an int")
    return f'"{time_text(value)}"'


_WRITERS: dict[Kind, Callable[[Any, Any], str]] = {
    Kind.TEXT: _text,
    Kind.CHOICE: _text,
    Kind.NUMBER: lambda value, _: js_number(value),
    Kind.INTEGER: lambda value, _: js_number(value),
    Kind.TIME: _time,
    Kind.FLAG: lambda value, _: "true" if value is True else "false",
    Kind.LEVELS: lambda value, record: f"[{levels_json(value, record.layout)}]",
    Kind.RENDERED: lambda value, _: f"[{value.decode()}]",
    Kind.STRINGS: lambda value, record: f"[{','.join([_text(item, record) for item in value])}]",
}


def _plan(table: Table) -> tuple[str, list[tuple[str, str, Callable[[Any, Any], str]]]]:
    """What stands before the first field, and for each field: the text before its value, the attribute, how it is written."""
    shown: list[Field] = [field for field in table.fields if field.key]
    return f'{{"type":{_quoted(table.type)}', [(f",{_quoted(field.key)}:", field.attr, _WRITERS[field.kind]) for field in shown]


_PLANS = {table.record: _plan(table) for table in TABLES}
