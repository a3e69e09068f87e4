"""The envelope of an event, without its payload, in plain Python."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from .errors import EventError
from .plan import CASE_NAMES
from .wire import BYTES, VARINT, read_varint

Head: TypeAlias = tuple[str, str, str, int, int, bytes, str, int]

_FIXED_SIZES = {1: 8, 5: 4}


def walk(data: bytes) -> Iterator[tuple[int, int, int | bytes]]:
    """Number, wire form and value of every field of a message, as they stand. Raises EventError."""
    at, end = 0, len(data)
    while at < end:
        begin = at
        try:
            key, at = read_varint(data, at)
            number, form = key >> 3, key & 7
            if form == VARINT:
                value, at = read_varint(data, at)
                yield number, form, value
                continue
            size, at = read_varint(data, at) if form == BYTES else (_FIXED_SIZES[form], at)
        except (IndexError, KeyError, ValueError):
            raise EventError(f"malformed field at byte {begin} of {end}") from None
        if size > end - at:
            raise EventError(f"field {number} at byte {begin} runs past the end of the event")
        yield number, form, data[at : at + size]
        at += size


def scan_head(data: bytes) -> Head:
    """-> source, exchange, symbol, origin, payload case (0: none or unknown), event id, stream id, stream sequence."""
    texts = {1: b"", 2: b"", 3: b"", 11: b"", 12: b""}
    numbers = {6: 0, 13: 0}
    case = 0
    # As in any protobuf reader the last one of a field wins, and a field of another wire form is unknown.
    for number, form, value in walk(data):
        if form == BYTES and number in texts:
            texts[number] = bytes(value)
        elif form == BYTES and number in CASE_NAMES:
            case = number
        elif form == VARINT and number in numbers:
            numbers[number] = int(value)
    try:
        source, exchange, symbol, stream_id = (texts[number].decode() for number in (1, 2, 3, 12))
    except UnicodeDecodeError as error:
        raise EventError(f"a text of the envelope is not UTF-8: {error}") from None
    return source, exchange, symbol, numbers[6], case, texts[11], stream_id, numbers[13]


def scan_meta(data: bytes) -> dict[str, str]:
    meta = {}
    for number, form, entry in walk(data):
        if number == 10 and form == BYTES:
            pair = {1: b"", 2: b""}
            pair.update({part: bytes(text) for part, kind, text in walk(bytes(entry)) if kind == BYTES})
            meta[pair[1].decode()] = pair[2].decode()
    return meta
