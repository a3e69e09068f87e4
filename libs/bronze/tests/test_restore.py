"""An event read back is the record it was made from."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import Raw
from msgspec.structs import replace

from lakehouse.bronze.v1.normalized_event_pb2 import NormalizedEvent
from tardis_bronze import BronzeStream, EventError, decode, read_pack, to_record, write_pack
from tardis_market import records as R

MS, US, LOCAL = 1_580_515_200_123, 1_580_515_200_123_456, 15_805_152_001_234_567
SNAPSHOT = R.BookSnapshot(
    "bitmex",
    "XBTUSD",
    "book_snapshot_2_1s",
    2,
    1000,
    None,
    b'{"price":1,"amount":2},{}',
    b'{"price":3,"amount":4},{"price":5,"amount":6}',
    MS,
    LOCAL,
)
BAR = R.TradeBar(
    "bitmex",
    "XBTUSD",
    "trade_bar_1m",
    60_000,
    "time",
    1.5,
    2.0,
    1e-7,
    1e21,
    300.0,
    200.0,
    100.0,
    3,
    1.6,
    US,
    US + 5,
    LOCAL,
    MS,
    60_000,
)
SAME = {
    "trade": R.Trade("bitmex", "XBTUSD", "a1b2", "9345.50", "100", "buy", US, LOCAL),
    "trade without id": R.Trade("bitmex", "XBTUSD", None, "0.10", "", "unknown", MS, LOCAL),
    "book change": R.BookChange("bitmex", "XBTUSD", True, [("1.50", "2"), ("1.4", "0")], [], MS, LOCAL),
    "derivative ticker": R.DerivativeTicker("bitmex", "XBTUSD", "1", "2", "-0.0001", MS, None, "4", None, US, LOCAL),
    "liquidation": R.Liquidation("bitmex", "XBTUSD", "o-1", "1", "2", "sell", MS, LOCAL),
    "option summary": R.OptionSummary(
        "deribit", "BTC-27MAR20-9000-P", "put", "9000", MS, "0.05", "1", "60.1", None, None, None, "0.055", "10", "0.0561",
        "60.5", "0.5", "0.0001", "12.5", "-20.1", "3", "9345.5", "BTC-27MAR20", MS, LOCAL,
    ),
    "book ticker": R.BookTicker("bitmex", "XBTUSD", "4", "3", None, None, MS, LOCAL),
    "book snapshot": SNAPSHOT,
    "grouped snapshot": replace(SNAPSHOT, name="book_snapshot_2_grouped10_1s", grouping=10, remove_crossed_levels=False),
    "quote": replace(SNAPSHOT, name="quote_1s", depth=1, bids=b'{"price":1,"amount":2}', asks=b"{}"),
    "time bar": BAR,
    "tick bar": replace(BAR, name="trade_bar_9ticks", interval=9, kind="tick", interval_ms=None),
    "error": R.Error("bitmex", None, LOCAL, "cannot connect", 3),
    "disconnect": R.Disconnect("bitmex", None, LOCAL),
    "disconnect of symbols": R.Disconnect("bitmex", None, LOCAL, ["A", "B"]),
    "disconnect of no symbols": R.Disconnect("bitmex", None, LOCAL, []),
}  # fmt: skip


def round_trip(record: R.Record) -> Any:
    (lane,) = BronzeStream(source="p", origin=2, stream_id="s", meta={}).encode([record], 1)
    (event,) = read_pack(write_pack(lane)).events()
    return to_record(decode(event))


@pytest.mark.parametrize("what", SAME)
def test_read_back_it_is_the_same(what: str) -> None:
    assert round_trip(SAME[what]) == SAME[what]


def test_levels_come_back_as_pairs_of_text() -> None:
    layout = R.Layout(price="p", amount="a")
    change = R.BookChange("bitmex", "XBTUSD", False, Raw(b'[{"p":1.50,"a":"2"}]'), b'[{"a":0,"p":"7"}]', MS, LOCAL, layout)
    back = round_trip(change)
    assert (back.bids, back.asks, back.layout) == ([("1.50", "2")], [("7", "0")], R.PAIRS)


def test_what_an_integer_cannot_hold_is_told_by_the_name() -> None:
    back = round_trip(replace(SNAPSHOT, name="book_snapshot_2.5_1s", depth=2.5))
    assert (back.name, back.depth) == ("book_snapshot_2.5_1s", 0)


def test_a_time_comes_back_in_the_coarsest_unit_that_holds_it() -> None:
    trade = SAME["trade"]
    for given, back in ((US // 1000 * 1000, US // 1000), (US, US), (US * 10 + 7, US * 10 + 7), (0, 0), (-1500, -1500)):
        assert round_trip(replace(trade, timestamp=given)).timestamp == back
    for given, back in (
        (MS, MS * 10_000),
        (US, US * 10),
        (978_307_200_123, 978_307_200_123_000),
    ):  # in 2001 ticks would be too small
        assert round_trip(replace(trade, local_timestamp=given)).local_timestamp == back


def test_an_event_without_payload_is_refused() -> None:
    with pytest.raises(EventError, match="no payload"):
        to_record(NormalizedEvent(exchange="bitmex"))
