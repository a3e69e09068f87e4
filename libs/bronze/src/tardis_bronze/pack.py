"""Packs: events of one lane, compressed, with a header that shows whether all of it arrived.

    offset  size
         0     4  magic "TBPK"
         4     2  version, 1
         6     2  header size: where the body begins, so that a later header may be longer
         8     4  lane
        12     4  count of events
        16     4  raw size: of the body when decompressed
        20     4  body size
        24     4  CRC-32 of all bytes but these four
        28     2  size of the extras: key size (1), key, value size (2), value, ...
        30        extras, then what a later header adds, then the body: zstd frames, one behind the other

Numbers are little-endian. Decompressed, the body is NormalizedEvents, each with its length as a varint before it. Frames stand
alone, so packs of one lane are joined by joining their bodies.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from struct import Struct
from zlib import crc32

import zstandard

from .engine import split
from .envelope import LaneEvents
from .errors import PackError

MAGIC = b"TBPK"
VERSION = 1
MAX_RAW_BYTES = 64 << 20

_HEADER = Struct("<4sHHIIIIIH")
_CRC_AT = 24
# A frame may ask for memory before it yields a byte; ours never need more than this.
_MAX_WINDOW = 8 << 20


@dataclass(frozen=True, slots=True)
class Pack:
    lane: int
    count: int
    extras: dict[str, bytes]
    parts: tuple[bytes, ...]

    def events(self) -> list[bytes]:
        """One NormalizedEvent each, in the order they were emitted."""
        return list(self.parts)


@dataclass(frozen=True, slots=True)
class _Header:
    lane: int
    count: int
    raw_size: int
    body: memoryview
    body_at: int
    extras: dict[str, bytes]


@cache
def _compressor(level: int) -> zstandard.ZstdCompressor:
    return zstandard.ZstdCompressor(level=level)


def write_pack(lane_events: LaneEvents, level: int = 1, *, extras: Mapping[str, bytes] | None = None) -> bytes:
    lane, count, data = lane_events
    return _seal(lane, count, len(data), _compressor(level).compress(data), extras or {})


def read_pack(data: bytes, max_raw_bytes: int = MAX_RAW_BYTES) -> Pack:
    """Every check is made here: what comes back is whole. Raises PackError."""
    header = _open(data)
    if header.raw_size > max_raw_bytes:
        raise PackError(f"decompressed size {header.raw_size} is above the limit of {max_raw_bytes}", 16)
    parts = tuple(split(_decompress(header)))
    if len(parts) != header.count:
        raise PackError(f"the header counts {header.count} events, the body has {len(parts)}", 12)
    return Pack(header.lane, header.count, header.extras, parts)


def coalesce(packs: Sequence[bytes]) -> bytes:
    """One pack with the events of all, in order, without compressing again. Extras stay where all packs agree on them."""
    if not packs:
        raise ValueError("no packs to join")
    headers = [_open(data) for data in packs]
    lanes = sorted({header.lane for header in headers})
    if len(lanes) > 1:
        raise ValueError(f"packs of several lanes cannot be joined: {lanes}")
    shared = {key: value for key, value in headers[0].extras.items() if all(h.extras.get(key) == value for h in headers)}
    count, raw_size = sum(h.count for h in headers), sum(h.raw_size for h in headers)
    return _seal(lanes[0], count, raw_size, b"".join([h.body for h in headers]), shared)


def _seal(lane: int, count: int, raw_size: int, body: bytes, extras: Mapping[str, bytes]) -> bytes:
    more = b"".join([_extra(key, value) for key, value in extras.items()])
    size = _HEADER.size + len(more)
    if size > 0xFFFF or max(count, raw_size, len(body)) > 0xFFFFFFFF:
        raise ValueError("too large for one pack")
    head = bytearray(_HEADER.pack(MAGIC, VERSION, size, lane, count, raw_size, len(body), 0, len(more)) + more)
    head[_CRC_AT : _CRC_AT + 4] = _checksum(head, body).to_bytes(4, "little")
    return bytes(head) + body


def _extra(key: str, value: bytes) -> bytes:
    name = key.encode()
    if len(name) > 0xFF or len(value) > 0xFFFF:
        raise ValueError(f"extra {key!r} is too large")
    return bytes((len(name),)) + name + len(value).to_bytes(2, "little") + value


def _checksum(head: bytes | bytearray | memoryview, body: bytes | memoryview) -> int:
    return crc32(body, crc32(head[_CRC_AT + 4 :], crc32(head[:_CRC_AT])))


def _open(data: bytes) -> _Header:
    """Header and body, checked against the CRC but not decompressed."""
    if data[:4] != MAGIC[: len(data)]:
        raise PackError("this is not a pack: wrong magic", 0)
    if len(data) >= 6 and (version := int.from_bytes(data[4:6], "little")) != VERSION:
        raise PackError(f"unknown pack version {version}", 4)
    if len(data) < _HEADER.size:
        raise PackError("torn header", len(data))
    _, _, size, lane, count, raw_size, body_size, crc, extras_size = _HEADER.unpack_from(data)
    if size < _HEADER.size + extras_size:
        raise PackError(f"header size {size} is too small", 6)
    if len(data) != size + body_size:
        what = "torn body" if len(data) < size + body_size else "bytes behind the body"
        raise PackError(f"{what}: {len(data)} bytes instead of {size + body_size}", min(len(data), size + body_size))
    view = memoryview(data)
    if _checksum(view[:size], view[size:]) != crc:
        raise PackError("CRC mismatch", _CRC_AT)
    extras = _read_extras(data, _HEADER.size, _HEADER.size + extras_size)
    return _Header(lane, count, raw_size, view[size:], size, extras)


def _read_extras(data: bytes, at: int, end: int) -> dict[str, bytes]:
    extras = {}
    while at < end:
        begin = at
        name_end = at + 1 + data[at]
        value_at = name_end + 2
        at = value_at + int.from_bytes(data[name_end:value_at], "little")
        if at > end:
            raise PackError("an extra runs past the extras", begin)
        try:
            extras[data[begin + 1 : name_end].decode()] = data[value_at:at]
        except UnicodeDecodeError:
            raise PackError("the key of an extra is not UTF-8", begin + 1) from None
    return extras


def _decompress(header: _Header) -> bytes:
    """Never yields more than the header says, whatever the frames claim."""
    raw = bytearray(header.raw_size + 1)
    filled = 0
    reader = zstandard.ZstdDecompressor(max_window_size=_MAX_WINDOW).stream_reader(header.body, read_across_frames=True)
    try:
        while filled < len(raw) and (got := reader.readinto(memoryview(raw)[filled:])):
            filled += got
    except zstandard.ZstdError as error:
        raise PackError(f"the body is not zstd: {error}", header.body_at) from None
    if filled != header.raw_size:
        more = "more" if filled > header.raw_size else "less"
        raise PackError(f"the body holds {more} than the {header.raw_size} bytes the header says", header.body_at)
    del raw[filled:]
    return bytes(raw)
