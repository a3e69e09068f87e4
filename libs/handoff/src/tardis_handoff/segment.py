"""A segment file: a short head, then groups. One group holds the packs of one chunk.

    segment  magic "TSEG" | version u16 | reserved u16 | group | group | ...
    group    magic "TGRP" | body length u32 | packs u16 | check u16 of these three | CRC32 u32 | body
    body     per pack: lane u16 | events u32 | length u32, then the packs themselves in the same order

The CRC covers the group's head (without the CRC itself) and its body, so that a group is either read whole or not at all. The
head's own check keeps a damaged length from being taken for a group that is still being written.
"""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from .errors import SpoolDamage, UnknownVersion

VERSION = 1
SEGMENT_MAGIC = b"TSEG"
GROUP_MAGIC = b"TGRP"
MAX_GROUP_BYTES = 1 << 28

_SEGMENT_HEAD = struct.Struct("<4sHH")
_GROUP_HEAD = struct.Struct("<4sIHH")
_CRC = struct.Struct("<I")
_ENTRY = struct.Struct("<HII")
SEGMENT_HEAD_SIZE = _SEGMENT_HEAD.size
GROUP_HEAD_SIZE = _GROUP_HEAD.size + _CRC.size


class LanePack(NamedTuple):
    lane: int
    events: int
    data: bytes


class Group(NamedTuple):
    packs: list[LanePack]
    end: int  # offset behind the group


def segment_head() -> bytes:
    return _SEGMENT_HEAD.pack(SEGMENT_MAGIC, VERSION, 0)


def encode_group(packs: Sequence[LanePack]) -> bytes:
    body = b"".join([*(_ENTRY.pack(p.lane, p.events, len(p.data)) for p in packs), *(p.data for p in packs)])
    head = _group_head(len(body), len(packs))
    return head + _CRC.pack(zlib.crc32(body, zlib.crc32(head))) + body


def _group_head(length: int, count: int) -> bytes:
    bare = _GROUP_HEAD.pack(GROUP_MAGIC, length, count, 0)
    return _GROUP_HEAD.pack(GROUP_MAGIC, length, count, zlib.crc32(bare) & 0xFFFF)


def check_segment_head(fd: int, path: Path) -> bool:
    """False: not written yet."""
    head = os.pread(fd, SEGMENT_HEAD_SIZE, 0)
    if len(head) < SEGMENT_HEAD_SIZE:
        return False
    magic, version, _ = _SEGMENT_HEAD.unpack(head)
    if magic != SEGMENT_MAGIC:
        raise SpoolDamage(path, 0, "not a spool segment")
    if version != VERSION:
        raise UnknownVersion(path, 0, f"segment version {version}, this program reads {VERSION}")
    return True


def read_group(fd: int, path: Path, offset: int) -> Group | None:
    """The group at `offset`; None if the file ends before the group does."""
    head = os.pread(fd, GROUP_HEAD_SIZE, offset)
    if len(head) < GROUP_HEAD_SIZE:
        return None
    magic, length, count, _ = _GROUP_HEAD.unpack_from(head)
    if magic != GROUP_MAGIC:
        raise SpoolDamage(path, offset, "no group starts here")
    if head[: _GROUP_HEAD.size] != _group_head(length, count) or length > MAX_GROUP_BYTES:
        raise SpoolDamage(path, offset, "head of the group is damaged")
    body = os.pread(fd, length, offset + GROUP_HEAD_SIZE)
    if len(body) < length:
        return None
    (crc,) = _CRC.unpack_from(head, _GROUP_HEAD.size)
    if zlib.crc32(body, zlib.crc32(head[: _GROUP_HEAD.size])) != crc:
        raise SpoolDamage(path, offset, "checksum does not match")
    return Group(_split(body, count), offset + GROUP_HEAD_SIZE + length)


def _split(body: bytes, count: int) -> list[LanePack]:
    packs, at = [], count * _ENTRY.size
    for i in range(count):
        lane, events, size = _ENTRY.unpack_from(body, i * _ENTRY.size)
        packs.append(LanePack(lane, events, body[at : at + size]))
        at += size
    return packs


def next_group_offset(fd: int, offset: int) -> int | None:
    """Where the next group may start behind a damaged one; None if there is no further group mark in the file."""
    step = 1 << 20
    while window := os.pread(fd, step + len(GROUP_MAGIC) - 1, offset):
        found = window.find(GROUP_MAGIC)
        if found >= 0:
            return offset + found
        offset += step
    return None
