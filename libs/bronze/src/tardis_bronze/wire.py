"""The few protobuf wire forms that Bronze needs, in plain Python."""

from __future__ import annotations

VARINT, BYTES = 0, 2
_SMALL = tuple(bytes((n,)) for n in range(128))
_U64 = (1 << 64) - 1


def varint(number: int) -> bytes:
    """A negative number takes ten bytes, as protobuf's int64 does."""
    if 0 <= number < 128:
        return _SMALL[number]
    number &= _U64
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)


def tag(field: int, form: int) -> bytes:
    return varint(field << 3 | form)


def sized(data: bytes) -> bytes:
    return varint(len(data)) + data


def bytes_field(field: int, data: bytes) -> bytes:
    return tag(field, BYTES) + sized(data)


def text_field(field: int, text: str | None) -> bytes:
    """Implicit presence: nothing is written for an empty text."""
    return bytes_field(field, text.encode()) if text else b""


def int_field(field: int, number: int) -> bytes:
    return tag(field, VARINT) + varint(number) if number else b""


def timestamp(ns: int) -> bytes:
    """google.protobuf.Timestamp without its tag; seconds are floored, so nanos are never negative."""
    seconds, nanos = divmod(ns, 1_000_000_000)
    return int_field(1, seconds) + int_field(2, nanos)


def map_field(field: int, entries: dict[str, str]) -> bytes:
    """map<string, string> with its keys sorted, as deterministic serialization has it."""
    pairs = (bytes_field(1, key.encode()) + bytes_field(2, entries[key].encode()) for key in sorted(entries))
    return b"".join([bytes_field(field, pair) for pair in pairs])


def read_varint(data: bytes, at: int) -> tuple[int, int]:
    """-> number and the place behind it. Raises IndexError at the end of the data, ValueError beyond ten bytes."""
    number = shift = 0
    while True:
        byte = data[at]
        at += 1
        number |= (byte & 127) << shift
        if byte < 128:
            return number & _U64, at
        shift += 7
        if shift > 63:
            raise ValueError("varint of more than ten bytes")
