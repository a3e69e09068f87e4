"""BitMEX: messages of our own making in its format, and the lines that clients get."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest

from tardis_market.errors import UnsupportedDataType
from tardis_market.exchanges import find_exchange
from tardis_market.exchanges.bitmex import EXCHANGE

MOMENT = datetime(2020, 2, 1, tzinfo=UTC)
ALL = ("trade", "book_change", "derivative_ticker", "liquidation", "book_ticker")
LOCAL = "2020-02-01T00:00:03.1415926Z"
STAMP = '"timestamp":"2020-02-01T00:00:03.141592Z","localTimestamp":"2020-02-01T00:00:03.141592Z"'
LATER = '"timestamp":"2020-02-01T00:00:03.100Z","localTimestamp":"2020-02-01T00:00:03.141592Z"'


def table(name: str, action: str, *rows: Any, **more: Any) -> dict[str, Any]:
    return {"table": name, "action": action, **more, "data": list(rows)}


def level(symbol: str, ident: int, side: str, size: int | None = None, price: float | None = None, **more: Any) -> dict[str, Any]:
    row = {"symbol": symbol, "id": ident, "side": side, "size": size, "price": price, **more}
    return {key: value for key, value in row.items() if value is not None}


def lines(half: SimpleNamespace, *messages: Any, types: tuple[str, ...] = ALL) -> list[str]:
    """`None` stands for a disconnect."""
    texts = ["" if message is None else f"{LOCAL} {json.dumps(message, separators=(',', ':'))}" for message in messages]
    out: list[Any] = []
    half.map_block(EXCHANGE.mapper(types, MOMENT), "".join(text + "\n" for text in texts).encode(), out, None)
    return half.encode_ndjson(out).decode().splitlines()  # type: ignore[no-any-return]


def book(symbol: str, snapshot: bool, bids: str = "", asks: str = "", stamp: str = STAMP) -> str:
    head = f'{{"type":"book_change","symbol":"{symbol}","exchange":"bitmex","isSnapshot":{str(snapshot).lower()}'
    return f'{head},"bids":[{bids}],"asks":[{asks}],{stamp}}}'


def test_trades(half: SimpleNamespace) -> None:
    row = {
        "timestamp": "2020-02-01T00:00:03.100Z",
        "symbol": "XBTUSD",
        "side": "Sell",
        "size": 40,
        "price": 9300.5,
        "trdMatchID": "m-1",
    }
    head = '{"type":"trade","symbol":"XBTUSD","exchange":"bitmex"'
    assert lines(half, table("trade", "insert", row, {**row, "side": "Buy", "price": 1e-8}), table("trade", "partial", row)) == [
        f'{head},"id":"m-1","price":9300.5,"amount":40,"side":"sell",{LATER}}}',
        f'{head},"id":"m-1","price":1e-8,"amount":40,"side":"buy",{LATER}}}',
    ]
    del row["side"], row["trdMatchID"]
    assert lines(half, table("trade", "insert", row)) == [f'{head},"price":9300.5,"amount":40,"side":"unknown",{LATER}}}']


def test_levels_are_known_by_their_id(half: SimpleNamespace) -> None:
    partial = table("orderBookL2", "partial", level("A", 1, "Sell", 5, 11.0), level("A", 2, "Buy", 6, 10.5), filter={"symbol": "A"})
    update = table("orderBookL2", "update", level("A", 1, "Sell", 7), level("A", 99, "Sell", 7))
    insert = table("orderBookL2", "insert", level("A", 3, "Buy", 8, 10))
    delete = table("orderBookL2", "delete", level("A", 3, "Buy"), level("A", 1, "Sell"))
    assert lines(half, partial, update, insert, delete) == [
        book("A", True, '{"price":10.5,"amount":6}', '{"price":11,"amount":5}'),
        book("A", False, "", '{"price":11,"amount":7}'),
        book("A", False, '{"price":10,"amount":8}', ""),
        book("A", False, '{"price":10,"amount":0}', '{"price":11,"amount":0}'),
    ]


def test_a_replay_may_begin_without_the_whole_book(half: SimpleNamespace) -> None:
    update = table("orderBookL2", "update", level("A", 1, "Sell", 7))
    insert = table("orderBookL2", "insert", level("A", 1, "Sell", 5, 11.0))
    assert lines(half, update, insert, update) == [
        book("A", False, "", '{"price":11,"amount":5}'),
        book("A", False, "", '{"price":11,"amount":7}'),
    ]


def test_one_message_about_several_symbols(half: SimpleNamespace) -> None:
    rows = [level("A", 1, "Sell", 5, 11.0), level("B", 1, "Buy", 6, 2), level("A", 2, "Buy", 7, 10)]
    update = table("orderBookL2", "update", level("B", 1, "Buy", 9), level("A", 1, "Sell", 9))
    assert lines(half, table("orderBookL2", "partial", *rows), update) == [
        book("A", True, '{"price":10,"amount":7}', '{"price":11,"amount":5}'),
        book("B", True, '{"price":2,"amount":6}', ""),
        book("B", False, '{"price":2,"amount":9}', ""),
        book("A", False, "", '{"price":11,"amount":9}'),
    ]


def test_an_empty_book_is_a_snapshot_of_the_symbol_asked_for(half: SimpleNamespace) -> None:
    assert lines(half, table("orderBookL2", "partial", filter={"symbol": "Z"})) == [book("Z", True)]
    assert lines(half, table("orderBookL2", "partial"), table("orderBookL2", "update")) == []


def test_rows_may_have_a_time(half: SimpleNamespace) -> None:
    rows = [
        level("A", 1, "Sell", 5, 11, timestamp="2020-02-01T00:00:03.000Z"),
        level("A", 2, "Sell", 5, 12, timestamp="2020-02-01T00:00:03.100Z"),
    ]
    asks = '{"price":11,"amount":5},{"price":12,"amount":5}'
    assert lines(half, table("orderBookL2", "insert", *rows)) == [book("A", False, "", asks, LATER)]


def test_a_disconnect_forgets_prices_and_instruments(half: SimpleNamespace) -> None:
    partial = table("orderBookL2", "partial", level("A", 1, "Sell", 5, 11.0))
    known = table(
        "instrument", "partial", {"symbol": "A", "lastPrice": 1, "openInterest": 2, "timestamp": "2020-02-01T00:00:03.100Z"}
    )
    news = table("instrument", "update", {"symbol": "A", "lastPrice": 3, "timestamp": "2020-02-01T00:00:03.100Z"})
    got = lines(half, partial, known, None, table("orderBookL2", "update", level("A", 1, "Sell", 7)), news)
    assert got[2:] == [
        '{"type":"disconnect","exchange":"bitmex","localTimestamp":"2020-02-01T00:00:03.141592Z"}',
        f'{{"type":"derivative_ticker","symbol":"A","exchange":"bitmex","lastPrice":3,{LATER}}}',
    ]


def test_instruments_are_told_as_changes(half: SimpleNamespace) -> None:
    full = {
        "symbol": "A",
        "state": "Open",
        "lastPrice": 10.5,
        "openInterest": 7,
        "fundingRate": 0.0001,
        "fundingTimestamp": "2020-02-01T04:00:00.000Z",
        "indicativeFundingRate": -0.00002,
        "indicativeSettlePrice": 10.25,
        "markPrice": None,
        "timestamp": "2020-02-01T00:00:03.000Z",
    }
    time = "2020-02-01T00:00:03.100Z"
    got = lines(
        half,
        table("instrument", "partial", full),
        table("instrument", "update", {"symbol": "A", "lastTickDirection": "PlusTick", "timestamp": time}),
        table("instrument", "update", {"symbol": "A", "lastPrice": 10.5, "timestamp": time}),
        table("instrument", "update", {"symbol": "A", "markPrice": 10.75, "fundingRate": None, "timestamp": time}),
        table("instrument", "update", {"symbol": "B", "openInterest": 5}),
    )
    rest = (
        '"openInterest":7,"fundingRate":0.0001,"fundingTimestamp":"2020-02-01T04:00:00.000Z",'
        '"predictedFundingRate":-0.00002,"indexPrice":10.25'
    )
    head = f'{{"type":"derivative_ticker","symbol":"A","exchange":"bitmex","lastPrice":10.5,{rest}'
    assert got == [f"{head},{LATER.replace('03.100', '03.000')}}}", f'{head},"markPrice":10.75,{LATER}}}']


def test_liquidations_and_quotes(half: SimpleNamespace) -> None:
    row = {"orderID": "o-1", "symbol": "A", "side": "Buy", "price": 5, "leavesQty": 6}
    quote = {"timestamp": "2020-02-01T00:00:03.100Z", "symbol": "A", "bidSize": 1, "bidPrice": 2, "askPrice": 3}
    assert lines(
        half, table("liquidation", "insert", row), table("liquidation", "delete", row), table("quote", "insert", quote)
    ) == [
        f'{{"type":"liquidation","symbol":"A","exchange":"bitmex","id":"o-1","price":5,"amount":6,"side":"buy",{STAMP}}}',
        f'{{"type":"book_ticker","symbol":"A","exchange":"bitmex","askPrice":3,"bidPrice":2,"bidAmount":1,{LATER}}}',
    ]


@pytest.mark.parametrize("wanted", ALL)
def test_only_what_was_asked_for(half: SimpleNamespace, wanted: str) -> None:
    time = {"symbol": "A", "timestamp": "2020-02-01T00:00:03.100Z"}
    messages = [
        {"info": "Welcome", "version": "x"},
        {"success": True, "subscribe": "trade:A"},
        table("trade", "insert", {**time, "side": "Buy", "size": 1, "price": 2}),
        table("orderBookL2", "partial", level("A", 1, "Sell", 5, 11.0)),
        table("instrument", "partial", {**time, "lastPrice": 1}),
        table("liquidation", "insert", {"orderID": "o", "symbol": "A", "side": "Sell", "price": 5, "leavesQty": 6}),
        table("quote", "insert", {**time, "bidPrice": 2}),
        table("chat", "insert", {"message": "hi"}),
    ]
    assert [json.loads(text)["type"] for text in lines(half, *messages, types=(wanted,))] == [wanted]
    assert len(lines(half, *messages)) == len(ALL)


def test_filters() -> None:
    assert find_exchange("bitmex") is EXCHANGE
    assert EXCHANGE.filters(["trade", "book_change"], ["xbtusd", "ETHUSD"], MOMENT) == [
        {"channel": "trade", "symbols": ["XBTUSD", "ETHUSD"]},
        {"channel": "orderBookL2", "symbols": ["XBTUSD", "ETHUSD"]},
    ]
    assert EXCHANGE.filters(["book_ticker", "book_ticker"], None, MOMENT) == [{"channel": "quote"}]
    for ask in (
        lambda: EXCHANGE.filters(["option_summary"], None, MOMENT),
        lambda: EXCHANGE.mapper(["trade", "option_summary"], MOMENT),
    ):
        with pytest.raises(UnsupportedDataType, match=r"^normalizeOptionsSummary: bitmex not supported$"):
            ask()
