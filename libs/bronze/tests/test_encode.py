"""Both encoders against google.protobuf: the same message, built by hand from the record, must give the same bytes."""

from __future__ import annotations

import importlib
import json
import math
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import Raw

from lakehouse.bronze.v1.normalized_event_pb2 import NormalizedEvent
from tardis_bronze import LaneEvents, decode, lane_of, to_record
from tardis_bronze.split import split
from tardis_bronze.stream import BronzeStream as PlainStream
from tardis_market import records as R

try:
    CompiledStream: Any = importlib.import_module("tardis_bronze._c.write").BronzeStream
except ImportError:
    CompiledStream = None

HALVES = [
    pytest.param(PlainStream, id="plain"),
    pytest.param(
        CompiledStream, id="compiled", marks=pytest.mark.skipif(CompiledStream is None, reason="compiled half is not built")
    ),
]
PROPERTY = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
NOW = 1_600_000_000_123_456_789
REPLAY = 2
META = {"request_id": "r-1", "transport": "ws"}


def open_stream(half: Callable[..., Any], **changes: Any) -> Any:
    return half(**{"source": "producer-1", "origin": REPLAY, "stream_id": "s-1", "meta": META, "lanes": 4} | changes)


# ---- the oracle: what each record means, written without the field tables


def decimal(value: Any) -> str | None:
    if isinstance(value, Raw | bytes):
        value = bytes(value).decode().strip('"')
    if value is None or value == "null":
        return None
    if isinstance(value, float):
        special = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}.get(str(value))
        return special or json.loads(json.dumps(JS_FLOATS[value]))
    return str(value)


JS_FLOATS = {
    0.1: "0.1",
    1.0: "1",
    -0.0: "0",
    1e21: "1e+21",
    1e-7: "1e-7",
    0.000001: "0.000001",
    123456789012345680.0: "123456789012345680",
}


def moment(stamp: Any, time: int | None) -> None:
    if time is None:
        return
    unit = 10**6 if time < 10**14 else 10**3 if time < 10**16 else 100
    stamp.seconds, stamp.nanos = divmod(time * unit, 10**9)
    stamp.SetInParent()


def put(message: Any, **values: Any) -> None:
    for name, value in values.items():
        if value is not None:
            setattr(message, name, value)


def whole(value: Any, bits: int) -> int | None:
    if value is None or not math.isfinite(value) or value != int(value):
        return None
    return int(value) if 0 < value < 2**bits else None


def exchange_levels(target: Any, levels: Any, layout: R.Layout) -> None:
    if not isinstance(levels, list):
        rows = json.loads(bytes(levels), parse_float=str, parse_int=str)
        gone = [layout.delete is not None and str(row[0]).startswith(layout.delete) for row in rows]
        levels = [(row[layout.price], "0" if deleted else row[layout.amount]) for row, deleted in zip(rows, gone, strict=True)]
    for price, amount in levels:
        put(target.add(), price_str=decimal(price), qty_str=decimal(amount))


def rendered(side: bytes) -> list[dict[str, str]]:
    levels: list[dict[str, str]] = json.loads(b"[" + side + b"]", parse_float=str, parse_int=str)
    return [level for level in levels if level]


def fill_trade(e: NormalizedEvent, r: R.Trade) -> None:
    put(e.trade, trade_id=None if r.id is None else str(r.id), price_str=decimal(r.price), qty_str=decimal(r.amount))
    e.trade.side = {"buy": 1, "sell": 2}.get(r.side, 0)  # type: ignore[assignment]
    moment(e.trade.event_ts, r.timestamp)


def fill_book_change(e: NormalizedEvent, r: R.BookChange) -> None:
    e.book_change.is_snapshot = r.is_snapshot
    exchange_levels(e.book_change.bids, r.bids, r.layout)
    exchange_levels(e.book_change.asks, r.asks, r.layout)
    moment(e.book_change.event_ts, r.timestamp)
    e.meta["is_snapshot"] = "true" if r.is_snapshot else "false"


def fill_derivative_ticker(e: NormalizedEvent, r: R.DerivativeTicker) -> None:
    t = e.derivative_ticker
    put(
        t,
        last_price_str=decimal(r.last_price),
        open_interest_str=decimal(r.open_interest),
        funding_rate_str=decimal(r.funding_rate),
    )
    put(t, predicted_funding_rate_str=decimal(r.predicted_funding_rate))
    put(t, index_price_str=decimal(r.index_price), mark_price_str=decimal(r.mark_price))
    moment(t.funding_ts, r.funding_timestamp)
    moment(t.event_ts, r.timestamp)


def fill_liquidation(e: NormalizedEvent, r: R.Liquidation) -> None:
    put(e.liquidation, order_id=None if r.id is None else str(r.id), price_str=decimal(r.price), qty_str=decimal(r.amount))
    e.liquidation.side = {"buy": 1, "sell": 2}.get(r.side, 0)  # type: ignore[assignment]
    moment(e.liquidation.event_ts, r.timestamp)


def fill_option_summary(e: NormalizedEvent, r: R.OptionSummary) -> None:
    o = e.option_summary
    o.option_type = {"call": 1, "put": 2}.get(r.option_type, 0)  # type: ignore[assignment]
    put(o, strike_price_str=decimal(r.strike_price), oi_str=decimal(r.open_interest), underlying_index=r.underlying_index)
    put(
        o,
        best_bid_price_str=decimal(r.best_bid_price),
        best_bid_qty_str=decimal(r.best_bid_amount),
        best_bid_iv_str=decimal(r.best_bid_iv),
    )
    put(
        o,
        best_ask_price_str=decimal(r.best_ask_price),
        best_ask_qty_str=decimal(r.best_ask_amount),
        best_ask_iv_str=decimal(r.best_ask_iv),
    )
    put(
        o,
        last_price_str=decimal(r.last_price),
        mark_price_str=decimal(r.mark_price),
        mark_iv_str=decimal(r.mark_iv),
        iv_str=decimal(r.mark_iv),
    )
    put(
        o,
        delta_str=decimal(r.delta),
        gamma_str=decimal(r.gamma),
        vega_str=decimal(r.vega),
        theta_str=decimal(r.theta),
        rho_str=decimal(r.rho),
    )
    put(o, underlying_price_str=decimal(r.underlying_price))
    moment(o.expiration_ts, r.expiration_date)
    moment(o.event_ts, r.timestamp)


def fill_book_ticker(e: NormalizedEvent, r: R.BookTicker) -> None:
    put(e.book_ticker, best_bid_price_str=decimal(r.bid_price), best_bid_qty_str=decimal(r.bid_amount))
    put(e.book_ticker, best_ask_price_str=decimal(r.ask_price), best_ask_qty_str=decimal(r.ask_amount))
    moment(e.book_ticker.event_ts, r.timestamp)


def fill_quote(e: NormalizedEvent, r: R.BookSnapshot) -> None:
    for name, side in (("bid", r.bids), ("ask", r.asks)):
        for level in rendered(side)[:1]:
            put(e.quote, **{f"{name}_price_str": level.get("price"), f"{name}_qty_str": level.get("amount")})
    put(e.quote, interval_ms=whole(r.interval, 32))
    moment(e.quote.event_ts, r.timestamp)


def fill_book_snapshot(e: NormalizedEvent, r: R.BookSnapshot) -> None:
    e.meta["data_name"] = r.name
    if r.name.startswith("quote"):
        return fill_quote(e, r)
    snapshot: Any = e.book_snapshot if r.grouping is None else e.grouped_book_snapshot
    put(snapshot, depth=whole(r.depth, 32), interval_ms=whole(r.interval, 32), grouping=whole(r.grouping, 32))
    snapshot.remove_crossed_levels = r.remove_crossed_levels
    for target, side in ((snapshot.bids, r.bids), (snapshot.asks, r.asks)):
        for level in rendered(side):
            put(target.add(), price_str=level.get("price"), qty_str=level.get("amount"))
    moment(snapshot.event_ts, r.timestamp)
    return None


def fill_trade_bar(e: NormalizedEvent, r: R.TradeBar) -> None:
    e.meta["data_name"] = r.name
    b = e.trade_bar
    b.kind = {"tick": 1, "time": 2, "volume": 3}[r.kind]  # type: ignore[assignment]
    put(b, interval=whole(r.interval, 64), interval_ms=whole(r.interval_ms, 32), trade_count=whole(r.trades, 64))
    put(
        b,
        open_str=decimal(r.open),
        high_str=decimal(r.high),
        low_str=decimal(r.low),
        close_str=decimal(r.close),
        vwap_str=decimal(r.vwap),
    )
    put(b, volume_str=decimal(r.volume), buy_volume_str=decimal(r.buy_volume), sell_volume_str=decimal(r.sell_volume))
    moment(b.event_ts, r.open_timestamp)
    moment(b.close_ts, r.close_timestamp)
    moment(b.end_ts, r.timestamp)


def fill_disconnect(e: NormalizedEvent, r: R.Disconnect) -> None:
    e.disconnect.SetInParent()
    if r.symbols is not None:
        e.meta["symbols"] = ",".join(r.symbols)


def fill_error(e: NormalizedEvent, r: R.Error) -> None:
    e.error.details = r.details
    e.error.subsequent_errors = r.subsequent_errors


FILL: dict[type, tuple[str, Callable[[NormalizedEvent, Any], None]]] = {
    R.Trade: ("trade", fill_trade),
    R.BookChange: ("book_change", fill_book_change),
    R.DerivativeTicker: ("derivative_ticker", fill_derivative_ticker),
    R.Liquidation: ("liquidation", fill_liquidation),
    R.OptionSummary: ("option_summary", fill_option_summary),
    R.BookTicker: ("book_ticker", fill_book_ticker),
    R.BookSnapshot: ("book_snapshot", fill_book_snapshot),
    R.TradeBar: ("trade_bar", fill_trade_bar),
    R.Disconnect: ("disconnect", fill_disconnect),
    R.Error: ("error", fill_error),
}


def expected(record: Any, seq: int, event_id: bytes) -> bytes:
    event = NormalizedEvent(source="producer-1", exchange=record.exchange, symbol=record.symbol or "", origin=REPLAY)  # type: ignore[arg-type]
    data_type, fill = FILL[type(record)]
    event.meta.update(META | {"data_type": data_type})
    moment(event.local_ts, record.local_timestamp)
    event.ingest_ts.seconds, event.ingest_ts.nanos = divmod(NOW, 10**9)
    event.event_id, event.stream_id, event.stream_seq = event_id, "s-1", seq
    fill(event, record)
    return event.SerializeToString(deterministic=True)


# ---- records of every kind

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
symbols = st.sampled_from(["XBTUSD", "ETHUSD", "", None, "ünï", "BTC-27DEC24-100000-C" * 8])
exchanges = st.sampled_from(["bitmex", "deribit"])
digits = st.from_regex(r"-?(0|[1-9][0-9]{0,9})(\.[0-9]{1,12})?", fullmatch=True)
decimals = st.one_of(
    st.none(),
    digits,
    digits.map(lambda t: Raw(t.encode())),
    digits.map(lambda t: f'"{t}"'.encode()),
    st.integers(-(10**22), 10**22),
    st.sampled_from([*JS_FLOATS, float("nan"), float("inf"), float("-inf")]),
    st.sampled_from(["NaN", "", "null", Raw(b"null"), b'""', "1" * 200]),
)
times = st.one_of(
    st.integers(0, 10**14 - 1), st.integers(10**14, 10**16 - 1), st.integers(10**16, 2 * 10**17), st.integers(-(10**12), -1)
)
ids = st.one_of(st.none(), texts, st.integers(0, 2**70))
sides = st.sampled_from(["buy", "sell", "unknown"])
json_digits = digits.flatmap(lambda t: st.sampled_from([t, f'"{t}"']))
arrays = st.lists(st.tuples(json_digits, json_digits), max_size=5).map(
    lambda rows: "[" + ",".join(f"[{p}, {a},0]" for p, a in rows) + "]"
)
objects = st.lists(st.tuples(json_digits, json_digits), max_size=5).map(
    lambda rows: "[" + ",".join(f'{{"id":7,"size":{a},"price" : {p}}}' for p, a in rows) + "]"
)
marked = st.lists(st.tuples(st.sampled_from(['"new"', '"delete"']), digits, digits), max_size=5).map(
    lambda rows: "[" + ",".join(f"[{m},{p},{a}]" for m, p, a in rows) + "]"
)
tuples = st.lists(st.tuples(decimals, decimals), max_size=5)


def sides_of(levels: st.SearchStrategy[Any], layout: R.Layout) -> st.SearchStrategy[tuple[Any, Any, R.Layout]]:
    forms = levels.map(lambda x: x if isinstance(x, list) else Raw(x.encode())) | levels.map(
        lambda x: x if isinstance(x, list) else x.encode()
    )
    return st.tuples(forms, forms, st.just(layout))


book_sides = st.one_of(
    sides_of(arrays, R.PAIRS),
    sides_of(objects, R.Layout(price="price", amount="size")),
    sides_of(marked, R.Layout(price=1, amount=2, delete="delete")),
    sides_of(tuples, R.PAIRS),
)
rendered_sides = st.lists(st.sampled_from(["{}", '{"price":1.5,"amount":20}', '{"price":1e-7,"amount":0.25}']), max_size=4).map(
    lambda levels: ",".join(sorted(levels, key=lambda level: level == "{}")).encode()
)
odd_numbers = st.sampled_from([0, 1, 10, 60_000, 2.5, 3.0, 2**32 - 1, 2**32, 2**64 - 1, 2**64, 1e30, -1, float("nan")])
names = st.sampled_from(["quote", "quote_1s", "book_snapshot_10_0ms", "book_snapshot_2.5_1s"])
finite = st.sampled_from([*JS_FLOATS, float("nan")])


def made(record: Callable[..., Any], **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.builds(record, exchange=exchanges, symbol=symbols, local_timestamp=times, repeat=st.integers(0, 3), **fields)


def book_change(both: tuple[Any, Any, R.Layout], **fields: Any) -> R.BookChange:
    return R.BookChange(bids=both[0], asks=both[1], layout=both[2], **fields)


def option_summary(numbers: list[Any], **fields: Any) -> R.OptionSummary:
    named = [f for f in R.OptionSummary.__struct_fields__ if f not in OTHER_OPTION_FIELDS]
    return R.OptionSummary(**dict(zip(named, numbers, strict=True)), **fields)


OTHER_OPTION_FIELDS = {
    "exchange",
    "symbol",
    "option_type",
    "expiration_date",
    "underlying_index",
    "timestamp",
    "local_timestamp",
    "repeat",
}
RECORDS = {
    "trade": made(R.Trade, id=ids, price=decimals, amount=decimals, side=sides, timestamp=times),
    "liquidation": made(R.Liquidation, id=ids, price=decimals, amount=decimals, side=sides, timestamp=times),
    "book_change": made(book_change, both=book_sides, is_snapshot=st.booleans(), timestamp=times),
    "derivative_ticker": made(
        R.DerivativeTicker,
        last_price=decimals,
        open_interest=decimals,
        funding_rate=decimals,
        funding_timestamp=st.none() | times,
        predicted_funding_rate=decimals,
        index_price=decimals,
        mark_price=decimals,
        timestamp=times,
    ),
    "option_summary": made(
        option_summary,
        numbers=st.lists(decimals, min_size=17, max_size=17),
        option_type=st.sampled_from(["call", "put", "none"]),
        expiration_date=st.none() | times,
        underlying_index=st.none() | texts,
        timestamp=times,
    ),
    "book_ticker": made(
        R.BookTicker, ask_amount=decimals, ask_price=decimals, bid_price=decimals, bid_amount=decimals, timestamp=times
    ),
    "book_snapshot": made(
        R.BookSnapshot,
        name=names,
        depth=odd_numbers,
        interval=odd_numbers,
        grouping=st.none() | odd_numbers,
        bids=rendered_sides,
        asks=rendered_sides,
        timestamp=times,
        remove_crossed_levels=st.booleans(),
    ),
    "trade_bar": made(
        R.TradeBar,
        name=texts,
        interval=odd_numbers,
        kind=st.sampled_from(["tick", "time", "volume"]),
        open=finite,
        high=finite,
        low=finite,
        close=finite,
        volume=finite,
        buy_volume=finite,
        sell_volume=finite,
        trades=st.integers(0, 10**6),
        vwap=finite,
        open_timestamp=times,
        close_timestamp=times,
        timestamp=times,
        interval_ms=st.none() | odd_numbers,
    ),
    "disconnect": made(R.Disconnect, symbols=st.none() | st.lists(st.sampled_from(["A", "B"]), max_size=3)),
    "error": made(R.Error, details=texts, subsequent_errors=st.integers(0, 2**32 - 1)),
}
any_record = st.one_of(*RECORDS.values())


@pytest.mark.parametrize("half", HALVES)
@pytest.mark.parametrize("kind", RECORDS)
@settings(PROPERTY, max_examples=40)
@given(data=st.data())
def test_an_event_equals_the_protobuf_message(half: Callable[..., Any], kind: str, data: st.DataObject) -> None:
    record = data.draw(RECORDS[kind])
    ((lane, count, encoded),) = open_stream(half).encode([record], NOW)
    (event,) = split(encoded)
    assert event == expected(record, 1, decode(event).event_id)
    assert (lane, count) == (lane_of(record.exchange, record.symbol, 4), 1)


@pytest.mark.skipif(CompiledStream is None, reason="compiled half is not built")
@settings(PROPERTY, max_examples=80)
@given(blocks=st.lists(st.lists(any_record, max_size=5), max_size=3), origin=st.sampled_from([0, 1, 2, 3]))
def test_both_halves_are_equal(blocks: list[list[Any]], origin: int) -> None:
    plain, compiled = (open_stream(half, origin=origin) for half in (PlainStream, CompiledStream))
    for block in blocks:
        assert compiled.encode(block, NOW) == plain.encode(block, NOW)


@pytest.mark.parametrize("half", HALVES)
@settings(PROPERTY, max_examples=30)
@given(blocks=st.lists(st.lists(RECORDS["error"] | RECORDS["disconnect"], max_size=20), min_size=1, max_size=3))
def test_lanes_rise_and_each_series_counts_from_one_in_order(half: Callable[..., Any], blocks: list[list[Any]]) -> None:
    stream = open_stream(half)
    counts: dict[tuple[str, str], int] = {}
    for block in blocks:
        answer: list[LaneEvents] = stream.encode(block, NOW)
        assert [lane for lane, _, _ in answer] == sorted({lane_of(r.exchange, r.symbol, 4) for r in block})
        for lane, count, encoded in answer:
            mine = [r for r in block if lane_of(r.exchange, r.symbol, 4) == lane]
            events = [decode(data) for data in split(encoded)]
            assert len(events) == count == len(mine)
            for record, event in zip(mine, events, strict=True):
                key = record.exchange, record.symbol or ""
                counts[key] = counts.get(key, 0) + 1
                assert (event.exchange, event.symbol, event.stream_seq) == (*key, counts[key])


@settings(PROPERTY, max_examples=120)
@given(record=any_record)
def test_a_record_read_back_gives_the_same_event_again(record: Any) -> None:
    record.repeat = 0  # events do not carry it
    (first,) = open_stream(PlainStream).encode([record], NOW)
    again = to_record(decode(split(first.data)[0]))
    assert open_stream(PlainStream).encode([again], NOW) == [first]
