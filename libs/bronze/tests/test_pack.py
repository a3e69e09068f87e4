"""A pack is read back exactly, or not at all."""

from __future__ import annotations

import importlib
import struct
import zlib
from collections.abc import Callable
from typing import Any

import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tardis_bronze import LaneEvents, PackError, coalesce, read_pack, write_pack

PROPERTY = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
event_lists = st.lists(st.binary(max_size=300), max_size=20)


def lane_events(events: list[bytes], lane: int = 3) -> LaneEvents:
    return LaneEvents(lane, len(events), b"".join([length(len(event)) + event for event in events]))


def length(n: int) -> bytes:
    return bytes([n]) if n < 128 else bytes([n & 127 | 128, n >> 7])


def sealed(body: bytes, *, count: int, raw_size: int, version: int = 1, more: bytes = b"", extras: bytes = b"") -> bytes:
    """A pack as the layout in pack.py describes it, written by hand; the CRC is right whatever else is wrong."""
    size = 30 + len(extras) + len(more)
    front = struct.pack("<4sHHIIII", b"TBPK", version, size, 3, count, raw_size, len(body))
    back = struct.pack("<H", len(extras)) + extras + more
    return front + struct.pack("<I", zlib.crc32(front + back + body)) + back + body


def squeeze(raw: bytes) -> bytes:
    return zstandard.ZstdCompressor().compress(raw)


@settings(PROPERTY)
@given(event_lists, st.integers(0, 2**32 - 1), st.sampled_from([1, 3]))
def test_what_is_written_is_read(events: list[bytes], lane: int, level: int) -> None:
    pack = read_pack(write_pack(lane_events(events, lane), level))
    assert (pack.lane, pack.count, pack.events(), pack.extras) == (lane, len(events), events, {})


def test_extras_travel_in_the_header() -> None:
    extras = {"traceparent": b"00-1-2-01", "ü": b"", "": b"x" * 1000}
    assert read_pack(write_pack(lane_events([b"a"]), extras=extras)).extras == extras


@settings(PROPERTY)
@given(st.lists(event_lists, min_size=1, max_size=5))
def test_joined_packs_hold_all_events_in_order(parts: list[list[bytes]]) -> None:
    joined = read_pack(coalesce([write_pack(lane_events(part)) for part in parts]))
    assert joined.events() == [event for part in parts for event in part]
    assert joined.lane == 3


def test_joining_twice_is_joining_once() -> None:
    packs = [write_pack(lane_events([bytes([n])] * n)) for n in range(4)]
    assert coalesce([coalesce(packs[:2]), coalesce(packs[2:])]) == coalesce(packs)


def test_joining_keeps_the_extras_that_all_packs_share() -> None:
    packs = [write_pack(lane_events([b"a"]), extras={"same": b"1", "other": bytes([n])}) for n in range(2)]
    assert read_pack(coalesce(packs)).extras == {"same": b"1"}


def test_packs_of_two_lanes_are_not_joined() -> None:
    with pytest.raises(ValueError, match=r"several lanes cannot be joined: \[1, 2\]"):
        coalesce([write_pack(lane_events([], lane)) for lane in (2, 1)])
    with pytest.raises(ValueError, match="no packs"):
        coalesce([])


def test_a_damaged_pack_is_not_joined() -> None:
    good = write_pack(lane_events([b"abc"]))
    with pytest.raises(PackError, match="CRC"):
        coalesce([good, good[:-1] + bytes([good[-1] ^ 1])])


@settings(PROPERTY, max_examples=300)
@given(event_lists, st.data())
def test_damage_is_never_taken_for_other_events(events: list[bytes], data: st.DataObject) -> None:
    good = write_pack(lane_events(events), extras={"k": b"v"})
    at = data.draw(st.integers(0, len(good) - 1))
    bad = data.draw(
        st.sampled_from([good[:at], good[:at] + good[at + 1 :], good + good[: at + 1]])
        | st.integers(1, 255).map(lambda mask: good[:at] + bytes([good[at] ^ mask]) + good[at + 1 :])
    )
    try:
        read = read_pack(bad)
    except PackError:
        return
    assert (read.lane, read.events(), read.extras) == (3, events, {"k": b"v"})


@settings(PROPERTY)
@given(st.binary(max_size=200))
def test_other_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(PackError):
        read_pack(data)


RAW = b"\x01a\x02bc"
REFUSED = {
    "wrong magic": (b"NOPE" + bytes(40), "wrong magic", 0),
    "unknown version": (sealed(squeeze(RAW), count=2, raw_size=5, version=2), "unknown pack version 2", 4),
    "torn header": (sealed(squeeze(RAW), count=2, raw_size=5)[:20], "torn header", 20),
    "torn body": (sealed(squeeze(RAW), count=2, raw_size=5)[:-2], "torn body", len(sealed(squeeze(RAW), count=2, raw_size=5)) - 2),
    "bytes behind": (
        sealed(squeeze(RAW), count=2, raw_size=5) + b"x",
        "bytes behind the body",
        len(sealed(squeeze(RAW), count=2, raw_size=5)),
    ),
    "count too high": (sealed(squeeze(RAW), count=3, raw_size=5), "counts 3 events, the body has 2", 12),
    "count too low": (sealed(squeeze(RAW), count=1, raw_size=5), "counts 1 events, the body has 2", 12),
    "more than told": (sealed(squeeze(RAW), count=2, raw_size=4), "more than the 4 bytes", 30),
    "less than told": (sealed(squeeze(RAW), count=2, raw_size=6), "less than the 6 bytes", 30),
    "not zstd": (sealed(b"plain", count=2, raw_size=5), "not zstd", 30),
    "event too long": (sealed(squeeze(b"\x01a\x05bc"), count=2, raw_size=5), "event of 5 bytes runs past", 2),
    "length cut off": (sealed(squeeze(b"\x01a\x80"), count=2, raw_size=3), "cut off or malformed", 2),
    "length without end": (sealed(squeeze(b"\xff" * 12), count=1, raw_size=12), "cut off or malformed", 0),
    "extra too long": (sealed(squeeze(RAW), count=2, raw_size=5, extras=b"\x01k\xff\xff"), "extra runs past", 30),
    "extra key not UTF-8": (sealed(squeeze(RAW), count=2, raw_size=5, extras=b"\x01\xff\x00\x00"), "not UTF-8", 31),
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_refusal_names_the_reason_and_the_place(what: str) -> None:
    data, reason, position = REFUSED[what]
    with pytest.raises(PackError) as caught:
        read_pack(data)
    assert reason in caught.value.reason
    assert caught.value.position == position
    assert f"at byte {position}" in str(caught.value)


def test_a_header_size_below_the_header_is_refused() -> None:
    data = bytearray(sealed(squeeze(RAW), count=2, raw_size=5))
    data[6:8] = (29).to_bytes(2, "little")
    with pytest.raises(PackError, match="header size 29 is too small"):
        read_pack(bytes(data))


def test_a_longer_header_of_a_later_writer_is_skipped() -> None:
    pack = read_pack(sealed(squeeze(RAW), count=2, raw_size=5, more=b"something new", extras=b"\x01k\x01\x00v"))
    assert (pack.events(), pack.extras) == ([b"a", b"bc"], {"k": b"v"})


def test_a_bomb_is_refused_before_it_goes_off() -> None:
    bomb = squeeze(bytes(10_000_000))
    assert len(bomb) < 2000
    with pytest.raises(PackError, match="above the limit"):
        read_pack(sealed(bomb, count=1, raw_size=10_000_000), max_raw_bytes=1_000_000)
    with pytest.raises(PackError, match="more than the 100 bytes"):
        read_pack(sealed(bomb, count=1, raw_size=100))


def test_a_frame_may_not_ask_for_a_huge_window() -> None:
    parameters = zstandard.ZstdCompressionParameters(window_log=27, write_content_size=False)
    writer = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    body = writer.compress(RAW) + writer.flush()
    with pytest.raises(PackError, match="not zstd"):
        read_pack(sealed(body, count=2, raw_size=5))


@pytest.mark.parametrize("extras", [{"k": bytes(70_000)}, {"k" * 300: b""}, {str(n): bytes(60_000) for n in range(2)}])
def test_extras_have_a_limit(extras: dict[str, bytes]) -> None:
    with pytest.raises(ValueError, match="too large"):
        write_pack(lane_events([]), extras=extras)


@pytest.fixture(params=["tardis_bronze.split", "tardis_bronze._c.read"])
def split(request: pytest.FixtureRequest) -> Callable[[bytes], list[bytes]]:
    try:
        found: Any = importlib.import_module(request.param)
    except ImportError:
        pytest.skip("compiled half is not built")
    return found.split  # type: ignore[no-any-return]


def test_splitting(split: Callable[[bytes], list[bytes]]) -> None:
    assert split(b"") == []
    assert split(b"\x00\x01a\x80\x01" + b"b" * 128) == [b"", b"a", b"b" * 128]
    for bad, position in ((b"\x00\x02a", 1), (b"\x80", 0), (b"\xff" * 11, 0)):
        with pytest.raises(PackError) as caught:
            split(bad)
        assert caught.value.position == position


@settings(PROPERTY)
@given(st.binary(max_size=40))
def test_both_halves_split_alike(data: bytes) -> None:
    halves = []
    for module in ("tardis_bronze.split", "tardis_bronze._c.read"):
        try:
            halves.append(importlib.import_module(module).split)
        except ImportError:
            pytest.skip("compiled half is not built")
    answers = []
    for half in halves:
        try:
            answers.append(half(data))
        except PackError as error:
            answers.append((error.reason, error.position))
    assert answers[0] == answers[1]
