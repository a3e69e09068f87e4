"""What a stream does beside encoding: bad input, limits, the parts of the envelope that may be empty."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import pytest

from tardis_bronze import decode, lane_of
from tardis_bronze.split import split
from tardis_market import records as R

HALVES = ["tardis_bronze.stream", "tardis_bronze._c.write"]
AT = 15_805_152_001_234_567


@pytest.fixture(params=HALVES)
def half(request: pytest.FixtureRequest) -> Callable[..., Any]:
    try:
        found: Callable[..., Any] = importlib.import_module(request.param).BronzeStream
    except ImportError:
        pytest.skip("compiled half is not built")
    return found


def stream_of(half: Callable[..., Any], **changes: Any) -> Any:
    return half(**{"source": "p", "origin": 2, "stream_id": "s", "meta": {}} | changes)


def trade(symbol: str = "XBTUSD", **changes: Any) -> R.Trade:
    fields = {"exchange": "bitmex", "symbol": symbol, "id": "1", "price": "1", "amount": "2", "side": "buy"}
    return R.Trade(**fields | {"timestamp": 1_580_515_200_123, "local_timestamp": AT} | changes)


def events_of(lanes: list[Any]) -> list[Any]:
    return [decode(event) for lane in lanes for event in split(lane.data)]


BROKEN: dict[str, tuple[Any, Any]] = {
    "levels that are no JSON": (R.BookChange("bitmex", "A", False, b"[[1,2", b"[]", 1, AT), ValueError),
    "levels that are no list": (R.BookChange("bitmex", "A", False, b"{}", b"[]", 1, AT), ValueError),
    "levels of another shape": (R.BookChange("bitmex", "A", False, b'[{"a":1}]', b"[]", 1, AT), ValueError),
    "levels that are not UTF-8": (R.BookChange("bitmex", "A", False, b'[["\xff","2"]]', b"[]", 1, AT), ValueError),
    "a level of three": (R.BookChange("bitmex", "A", False, [("1", "2", "3")], [], 1, AT), TypeError),  # type: ignore[list-item]
    "a decimal that is not UTF-8": (trade(price=b"\xff"), ValueError),
    "a lone surrogate": (trade(id="\ud800"), UnicodeEncodeError),
    "a time out of range": (trade(timestamp=10**19), ValueError),
    "a time that is no int": (trade(timestamp=1.5), TypeError),
    "a local time that is None": (trade(local_timestamp=None), TypeError),
    "a repeat below zero": (trade(repeat=-1), OverflowError),
    "a repeat above four bytes": (trade(repeat=2**32), OverflowError),
    "no record at all": ("text", (AttributeError, KeyError)),
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_record_that_cannot_be_encoded_leaves_the_stream_as_it_was(half: Callable[..., Any], what: str) -> None:
    bad, error = BROKEN[what]
    stream = stream_of(half)
    stream.encode([trade()], 1)
    with pytest.raises(error):
        stream.encode([trade(), trade("ETHUSD"), bad], 1)
    seqs = {(e.symbol, e.stream_seq) for e in events_of(stream.encode([trade(), trade("ETHUSD")], 1))}
    assert seqs == {("XBTUSD", 2), ("ETHUSD", 1)}


def test_nothing_in_nothing_out(half: Callable[..., Any]) -> None:
    assert stream_of(half).encode([], 1) == []


def test_a_missing_symbol_and_an_empty_one_are_one_series(half: Callable[..., Any]) -> None:
    lanes = stream_of(half).encode([R.Error("bitmex", None, AT, "a", 1), R.Error("bitmex", "", AT, "b", 2)], 1)
    assert [(e.symbol, e.stream_seq) for e in events_of(lanes)] == [("", 1), ("", 2)]
    assert [lane.lane for lane in lanes] == [lane_of("bitmex", None, 8)]


def test_an_event_wins_over_the_meta_of_its_stream(half: Callable[..., Any]) -> None:
    (event,) = events_of(stream_of(half, meta={"data_type": "mine", "b": ""}).encode([trade()], 1))
    assert dict(event.meta) == {"data_type": "trade", "b": ""}


def test_empty_parts_of_the_envelope_are_absent(half: Callable[..., Any]) -> None:
    (lane,) = stream_of(half, source="", origin=0, stream_id="", lanes=1).encode([trade()], 0)
    (event,) = events_of([lane])
    assert split(lane.data) == [event.SerializeToString(deterministic=True)]
    assert (event.source, event.origin, event.stream_id, lane.lane) == ("", 0, "", 0)


def test_long_levels_need_a_longer_length(half: Callable[..., Any]) -> None:
    levels: list[Any] = [("1" * n, "2" * n) for n in (60, 61, 62, 63, 64, 127, 128, 20_000)]
    (lane,) = stream_of(half).encode([R.BookChange("bitmex", "A", True, levels, [], 1, AT)], 1)
    (event,) = events_of([lane])
    assert [(level.price_str, level.qty_str) for level in event.book_change.bids] == levels


def test_disconnects_name_their_own_symbols(half: Callable[..., Any]) -> None:
    records = [R.Disconnect("bitmex", None, AT, symbols) for symbols in (["A", "B"], None, ["C"])]
    assert [e.meta.get("symbols") for e in events_of(stream_of(half).encode(records, 1))] == ["A,B", None, "C"]


def test_lanes_are_checked(half: Callable[..., Any]) -> None:
    with pytest.raises(ValueError, match="lanes must be 1 or more"):
        stream_of(half, lanes=0)


def test_a_block_of_many_events_outgrows_the_first_buffer(half: Callable[..., Any]) -> None:
    levels = ",".join(f'["{i}.5","{i}"]' for i in range(2000))
    records: list[R.Record] = [R.BookChange("bitmex", "A", True, f"[{levels}]".encode(), b"[]", 1, AT) for _ in range(20)]
    (lane,) = stream_of(half).encode(records, 1)
    events = events_of([lane])
    assert len(events) == lane.count == 20
    assert all(len(e.book_change.bids) == 2000 for e in events)
