"""The data types of a request."""

from __future__ import annotations

import pytest

from tardis_market.datatypes import SnapshotSpec, TradeBarSpec, parse_data_types
from tardis_market.errors import InvalidDataType, UnknownExchange
from tardis_market.exchanges import EXCHANGES, find_exchange


@pytest.mark.parametrize(
    ("name", "spec"),
    [
        ("trade_bar_10ticks", TradeBarSpec("trade_bar_10ticks", "tick", 10)),
        ("trade_bar_500ms", TradeBarSpec("trade_bar_500ms", "time", 500)),
        ("trade_bar_0.5s", TradeBarSpec("trade_bar_0.5s", "time", 500)),
        ("trade_bar_1m", TradeBarSpec("trade_bar_1m", "time", 60_000)),
        ("trade_bar_2.5vol", TradeBarSpec("trade_bar_2.5vol", "volume", 2.5)),
        ("trade_bar_1e2ms", TradeBarSpec("trade_bar_1e2ms", "time", 100)),
        ("book_snapshot_50_0ms", SnapshotSpec("book_snapshot_50_0ms", 50, 0)),
        ("book_snapshot_2.5_1s", SnapshotSpec("book_snapshot_2.5_1s", 2.5, 1000)),
        ("book_snapshot_2_grouped0.05_1m", SnapshotSpec("book_snapshot_2_grouped0.05_1m", 2, 60_000, 0.05)),
        ("book_snapshot_2_grouped10_0ms", SnapshotSpec("book_snapshot_2_grouped10_0ms", 2, 0, 10)),
        ("quote", SnapshotSpec("quote", 1, 0)),
        ("quote_10s", SnapshotSpec("quote_10s", 1, 10_000)),
    ],
)
def test_computables(name: str, spec: TradeBarSpec | SnapshotSpec) -> None:
    parsed = parse_data_types([name])
    assert (parsed.plain, parsed.computables, parsed.mapped) == ((), (spec,), (spec.source,))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("trade_bar", "invalid data type: trade_bar"),
        ("trade_bar_1h", "invalid data type: trade_bar_1h"),
        ("trade_bar_xs", "invalid interval: x, data type: trade_bar_xs"),
        ("book_snapshot_5", "invalid data type: book_snapshot_5"),
        ("book_snapshot_x_1s", "invalid depth: x, data type: book_snapshot_x_1s"),
        ("book_snapshot_5_xms", "invalid interval: x, data type: book_snapshot_5_xms"),
        ("book_snapshot_5_groupedx_1s", "invalid interval: x, data type: book_snapshot_5_groupedx_1s"),
        ("quotes", "invalid interval: quote, data type: quotes"),
        ("quote_x", "invalid data type: quote_x"),
        ("foo", "Can't normalize data without any normalizers provided"),
    ],
)
def test_invalid_names(name: str, message: str) -> None:
    with pytest.raises(InvalidDataType) as caught:
        parse_data_types([name])
    assert str(caught.value) == message


def test_plain_types_beside_computables() -> None:
    parsed = parse_data_types(["liquidation", "foo", "quote", "trade", "trade", "trade_bar_1s"])
    assert parsed.plain == ("liquidation", "trade")
    assert [spec.name for spec in parsed.computables] == ["quote", "trade_bar_1s"]
    assert parsed.mapped == ("trade", "book_change", "liquidation")


def test_exchanges_are_listed_in_the_order_of_the_api() -> None:
    assert len(EXCHANGES) == len(set(EXCHANGES)) == 64
    with pytest.raises(UnknownExchange) as caught:
        find_exchange("foo")
    text = str(caught.value)
    assert text.startswith(
        'Invalid "exchange" argument: foo. Please provide one of the following exchanges: aster, aster-futures, bitmex,'
    )
    assert text.endswith(", mexc, polymarket.")
