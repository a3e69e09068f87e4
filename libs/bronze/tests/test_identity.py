"""Event ids are for ever: the layout, the identity fields and known ids stand here literally, so that a change of any goes red."""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from typing import Any

import pytest
from msgspec import Raw
from msgspec.structs import replace
from xxhash import xxh3_64_intdigest, xxh3_128_hexdigest

from tardis_bronze import decode, lane_of
from tardis_bronze.split import split
from tardis_market import records as R
from tardis_market.tables import PAYLOADS

AT, LOCAL = 1_580_515_200_123, 15_805_152_001_234_567
PAGE = Path(__file__).parents[3] / "docs" / "event-ids.md"
TRADE = R.Trade("bitmex", "XBTUSD", "a1b2", "9345.50", "100", "buy", AT, LOCAL)
SNAPSHOT = R.BookSnapshot(
    "bitmex",
    "XBTUSD",
    "book_snapshot_2_1s",
    2,
    1000,
    None,
    b'{"price":1,"amount":2},{}',
    b'{"price":3,"amount":4},{"price":5,"amount":6}',
    AT,
    LOCAL,
)
OPTION = R.OptionSummary(
    "deribit",
    "BTC-27MAR20-9000-C",
    "call",
    "9000",
    1_585_296_000_000,
    "0.05",
    "1",
    "60.1",
    "0.06",
    "2",
    "61",
    "0.055",
    "10",
    "0.0561",
    "60.5",
    "0.5",
    "0.0001",
    "12.5",
    "-20.1",
    "3",
    "9345.5",
    "BTC-27MAR20",
    AT,
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
    1.0,
    1.75,
    300.0,
    200.0,
    100.0,
    3,
    1.6,
    AT,
    AT + 5,
    LOCAL,
    AT + 60_000,
    60_000,
)
GOLDEN: dict[str, tuple[Any, str]] = {
    "trade": (TRADE, "d45aaa9878a5655b138f6b53576f65cd"),
    "bookChange": (
        R.BookChange("bitmex", "XBTUSD", True, Raw(b'[["1.50",2]]'), [("3", "0")], AT, LOCAL),
        "081311f510712ef349266c9b9a97d4ea",
    ),
    "bookSnapshot": (SNAPSHOT, "bcc6ec724d6d4a02ebbc902ec986c294"),
    "quote": (replace(SNAPSHOT, name="quote_1s", depth=1), "4e59fa326143642b42a6b019cb37892e"),
    "derivativeTicker": (
        R.DerivativeTicker("bitmex", "XBTUSD", "1", "2", "0.0001", AT, None, "4", "5.50", AT, LOCAL),
        "eae66c019281f5be45f5875d8d9c6970",
    ),
    "liquidation": (R.Liquidation("bitmex", "XBTUSD", "o-1", "1", "2", "sell", AT, LOCAL), "f828ea8aeb8cf681cd35223b616e79ec"),
    "optionSummary": (OPTION, "5cf2f531135e5c4b07b8819048210a19"),
    "bookTicker": (R.BookTicker("bitmex", "XBTUSD", "4", "3", "1", "2", AT, LOCAL), "dd2a594774a37e46e5589933ae4a2a93"),
    "groupedBookSnapshot": (
        replace(SNAPSHOT, name="book_snapshot_2_grouped10_1s", grouping=10),
        "537ff0f97632b7f03a41f32829a51f90",
    ),
    "tradeBar": (BAR, "631307ab20a34c0b97a950d9a404eca8"),
    "error": (R.Error("bitmex", None, LOCAL, "cannot connect", 3), "89b2b04a930b8b900f4d8a973046913e"),
    "disconnect": (R.Disconnect("bitmex", None, LOCAL, ["XBTUSD"]), "57a3a8e3ae2db35b3a1ec7fc92678376"),
}
#: Frozen: a number may never be added to or taken from a line.
IDENTITY = {
    "trade": [1, 2, 3, 4, 10],
    "bookChange": [10, 20, 21, 22],
    "bookSnapshot": [1, 2, 3, 10, 11, 12],
    "groupedBookSnapshot": [1, 2, 3, 10, 11, 12],
    "quote": [1, 3, 10, 11],  # 1 and 3 stand for the pairs 1, 2 and 3, 4
    "derivativeTicker": [1, 2, 3, 4, 5, 6, 10, 11],
    "liquidation": [1, 2, 3, 4, 10],
    "optionSummary": [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22],
    "bookTicker": [1, 2, 3, 4, 10],
    "tradeBar": [1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
    "error": [1, 2],
    "disconnect": [],
}


@pytest.fixture(params=["tardis_bronze.stream", "tardis_bronze._c.write"])
def half(request: pytest.FixtureRequest) -> Any:
    try:
        return importlib.import_module(request.param).BronzeStream
    except ImportError:
        pytest.skip("compiled half is not built")


def id_of(half: Any, record: R.Record, **changes: Any) -> str:
    options: dict[str, Any] = {"source": "p", "origin": 2, "stream_id": "s", "meta": {}} | changes
    ((_, _, data),) = half(**options).encode([record], 1)
    return decode(split(data)[0]).event_id.hex()


@pytest.mark.parametrize("case", GOLDEN)
def test_known_ids(half: Any, case: str) -> None:
    record, known = GOLDEN[case]
    assert id_of(half, record) == known


def test_identity_fields_are_frozen() -> None:
    marked = {table.case_name: [f.wire for f in table.wire_fields if f.identity] for table in PAYLOADS}
    assert marked == IDENTITY


def test_the_worked_example_of_the_docs(half: Any) -> None:
    example = PAGE.read_text().split("## A worked example")[1].split("## ")[0]
    data = bytes.fromhex("".join(re.findall(r"\| `([0-9a-f ]+)` \|", example)))
    told = re.search(r"Event id: `([0-9a-f]{32})`", example)
    assert told is not None
    assert id_of(half, TRADE) == xxh3_128_hexdigest(data) == told[1]


CHANGES: dict[str, dict[str, Any]] = {
    "exchange": {"exchange": "deribit"},
    "symbol": {"symbol": "ETHUSD"},
    "an identity field": {"price": "9345.5"},  # the same number, other text
    "local time": {"local_timestamp": LOCAL + 1},
    "repeat": {"repeat": 1},
}


@pytest.mark.parametrize("what", CHANGES)
def test_what_an_id_depends_on(half: Any, what: str) -> None:
    assert id_of(half, replace(TRADE, **CHANGES[what])) != id_of(half, TRADE)


def test_the_name_and_the_case_are_part_of_an_id(half: Any) -> None:
    records = [replace(SNAPSHOT, name=name, grouping=g) for name, g in (("a", None), ("b", None), ("a", 0), ("b", 0))]
    assert len({id_of(half, record) for record in records}) == 4


def test_what_an_id_does_not_depend_on(half: Any) -> None:
    assert id_of(half, TRADE, source="q", stream_id="t", meta={"a": "b"}, origin=3, lanes=2) == id_of(half, TRADE)
    assert id_of(half, replace(SNAPSHOT, remove_crossed_levels=False)) == id_of(half, SNAPSHOT)
    assert id_of(half, replace(BAR, interval_ms=None)) == id_of(half, BAR)


def test_a_local_time_has_one_id_in_every_unit(half: Any) -> None:
    units = (1_580_515_200_123, 1_580_515_200_123_000, 15_805_152_001_230_000)
    assert len({id_of(half, replace(TRADE, local_timestamp=time)) for time in units}) == 1


def test_live_the_own_id_of_the_exchange_replaces_the_local_time(half: Any) -> None:
    later = replace(TRADE, local_timestamp=LOCAL + 5)
    assert id_of(half, later, origin=1) == id_of(half, TRADE, origin=1) != id_of(half, TRADE)
    unnumbered, later = (replace(record, id=None) for record in (TRADE, later))
    assert id_of(half, later, origin=1) != id_of(half, unnumbered, origin=1) == id_of(half, unnumbered)


def test_lanes_are_as_the_docs_say() -> None:
    assert [lane_of("bitmex", "XBTUSD", 8), lane_of("deribit", "BTC-PERPETUAL", 8), lane_of("bitmex", None, 8)] == [7, 4, 0]
    assert lane_of("a", "ü", 1000) == xxh3_64_intdigest("a\0ü".encode()) % 1000
    assert lane_of("bitmex", "", 8) == lane_of("bitmex", None, 8)
