"""Times: the unit by size, printing and parsing, by both halves."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tardis_market.records import Trade
from tardis_market.times import parse_local, parse_time, time_text, to_ms, to_ns, to_ticks

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def printed(half: SimpleNamespace, time: int) -> str:
    line: str = half.encode_ndjson([Trade("x", "s", None, None, None, "buy", time, 1)]).decode()
    return line.split('"timestamp":"')[1].split('"', maxsplit=1)[0]


@pytest.mark.parametrize(
    ("time", "text"),
    [
        (0, "1970-01-01T00:00:00.000Z"),
        (-1, "1969-12-31T23:59:59.999Z"),
        (-62_135_596_800_000, "0001-01-01T00:00:00.000Z"),
        (1_580_515_200_123, "2020-02-01T00:00:00.123Z"),
        (99_999_999_999_999, "5138-11-16T09:46:39.999Z"),
        (10**14, "1973-03-03T09:46:40.000000Z"),
        (1_580_515_200_123_456, "2020-02-01T00:00:00.123456Z"),
        (10**16, "2001-09-09T01:46:40.000000Z"),
        (15_805_152_001_234_569, "2020-02-01T00:00:00.123456Z"),
        (2_534_023_007_999_999_999, "9999-12-31T23:59:59.999999Z"),
    ],
)
def test_the_size_tells_the_unit(half: SimpleNamespace, time: int, text: str) -> None:
    assert time_text(time) == text
    assert printed(half, time) == text


@given(st.integers(-62_135_596_800_000, 10**14 - 1))
@settings(max_examples=200)
def test_any_millisecond(half: SimpleNamespace, time: int) -> None:
    moment = (EPOCH + timedelta(milliseconds=time)).replace(tzinfo=None)
    assert printed(half, time) == f"{moment.isoformat(timespec='milliseconds')}Z"


@given(st.integers(10**16, 2_534_023_007_999_999_999))
@settings(max_examples=200)
def test_any_tick(half: SimpleNamespace, time: int) -> None:
    moment = (EPOCH + timedelta(microseconds=time // 10)).replace(tzinfo=None)
    assert printed(half, time) == f"{moment.isoformat(timespec='microseconds')}Z" == time_text(time)


@pytest.mark.parametrize("time", [2_534_023_008_000_000_000, 2**70, -62_135_596_800_001, -(2**70)])
def test_out_of_range(half: SimpleNamespace, time: int) -> None:
    with pytest.raises(ValueError, match="out of range"):
        printed(half, time)


def test_conversions() -> None:
    for time in (1_580_515_200_123, 1_580_515_200_123_000, 15_805_152_001_230_000):
        assert to_ticks(time) == 15_805_152_001_230_000
        assert to_ns(time) == 1_580_515_200_123_000_000
        assert to_ms(time) == 1_580_515_200_123


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("2020-02-01T00:00:00Z", 1_580_515_200_000),
        ("2020-02-01T00:00:00.1Z", 1_580_515_200_100),
        ("2020-02-01T00:00:00.123Z", 1_580_515_200_123),
        ("2020-02-01T00:00:00.1234Z", 1_580_515_200_123_400),
        ("2020-02-01T00:00:00.123456Z", 1_580_515_200_123_456),
        ("2020-02-01T00:00:00.123456789Z", 1_580_515_200_123_456),
        ("2020-02-01T00:00:00.123456+00:00", 1_580_515_200_123_456),
        ("2020-02-01T02:00:00+02:00", 1_580_515_200_000),
        ("2020-01-31T18:30:00-0530", 1_580_515_200_000),
        ("2020-02-01 00:00:00", 1_580_515_200_000),
        ("1971-01-01T00:00:00.123456Z", 31_536_000_123),
    ],
)
def test_parse_time(text: str, time: int) -> None:
    assert parse_time(text) == time


@pytest.mark.parametrize(
    "text", ["", "2020-02-30T00:00:00Z", "2020-02-01T24:00:00Z", "2020-02-01T00:00:00.Z", "2020-02-01", "٢020-02-01T00:00:00Z"]
)
def test_not_a_time(text: str) -> None:
    with pytest.raises(ValueError, match=r"day|hour|time"):
        parse_time(text)


def test_parse_local() -> None:
    assert parse_local("2020-02-01T00:00:00.0002024Z") == 15_805_152_000_002_024
    for text in ("2020-02-01T00:00:00.000202Z", "1999-02-01T00:00:00.0002024Z", "2020-02-01 00:00:00.0002024Z"):
        with pytest.raises(ValueError, match="not a local time"):
            parse_local(text)
