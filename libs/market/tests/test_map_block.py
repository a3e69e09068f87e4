"""Blocks of lines: times, disconnects, errors, and lines that are anything but what a rule expects."""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tardis_market.errors import MappingError
from tardis_market.exchanges.bitmex import Bitmex
from tardis_market.records import Disconnect, Record, Trade
from tardis_market.rules import Const, Mapper, Rule

TIME = b"2020-02-01T00:00:00.0002024Z"
AT = 15_805_152_000_002_024
TYPES = frozenset({"trade", "book_change", "derivative_ticker", "liquidation", "book_ticker"})
MESSAGES = [
    {
        "table": "orderBookL2",
        "action": "partial",
        "filter": {"symbol": "A"},
        "data": [{"symbol": "A", "id": 1, "side": "Buy", "size": 5, "price": 1.5}],
    },
    {
        "table": "orderBookL2",
        "action": "update",
        "data": [{"symbol": "A", "id": 1, "side": "Buy", "size": 6}, {"symbol": "B", "id": 1, "side": "Sell", "size": 6}],
    },
    {
        "table": "orderBookL2",
        "action": "insert",
        "data": [{"symbol": "B", "id": 2, "side": "Sell", "size": 6, "price": 1e-7, "timestamp": "2020-02-01T00:00:00.000Z"}],
    },
    {
        "table": "trade",
        "action": "insert",
        "data": [{"symbol": "A", "timestamp": "2020-02-01T00:00:00.001Z", "side": "Buy", "size": 1, "price": 2, "trdMatchID": "x"}]
        * 2,
    },
    {
        "table": "instrument",
        "action": "partial",
        "data": [{"symbol": "A", "lastPrice": 1.0, "markPrice": None, "timestamp": "2020-02-01T00:00:00.001Z"}],
    },
    {
        "table": "quote",
        "action": "insert",
        "data": [
            {"symbol": "A", "timestamp": "2020-02-01T00:00:00.001Z", "bidPrice": 1, "bidSize": 2, "askPrice": 3, "askSize": 4}
        ],
    },
    {
        "table": "liquidation",
        "action": "insert",
        "data": [{"symbol": "A", "orderID": "o", "side": "Sell", "price": 2, "leavesQty": 3}],
    },
]


class Echo(Mapper):
    """A trade for each message that is a JSON object; hooks and `map` fail on request."""

    exchange = "echo"
    resets = 0

    def reset(self) -> None:
        self.resets += 1

    def map(self, message: bytes, local: int) -> Iterable[Record]:
        if message == b'"fail"':
            raise KeyError("asked for")
        return [Trade("echo", "m", None, "1", "1", "buy", local, local)]

    def check(self, trade: Trade) -> Trade:
        if trade.price == "0":
            raise ZeroDivisionError("no price")
        return trade

    rules = (Rule({"k": "t"}, Trade, then=check, symbol="s", price="p", amount=Const("1"), side=Const("buy"), timestamp="t"),)


def line(message: bytes, time: bytes = TIME) -> bytes:
    return time + b" " + message + b"\n"


def run(half: SimpleNamespace, *blocks: bytes) -> tuple[list[Any], Echo, int | None]:
    echo, out, last = Echo(), [], None  # type: ignore[var-annotated]
    for block in blocks:
        last = half.map_block(echo, block, out, last)
    return out, echo, last


def test_the_last_local_time_is_handed_on(half: SimpleNamespace) -> None:
    out, _, last = run(half, line(b"{}") + line(b'{"k":"t","s":"A","p":1,"t":2}', b"2020-02-01T00:00:01.0000000Z"), b"")
    assert last == 15_805_152_010_000_000
    assert [record.local_timestamp for record in out] == [AT, last]
    assert half.map_block(Echo(), b"", [], 7) == 7


def test_the_last_newline_may_be_missing(half: SimpleNamespace) -> None:
    assert len(run(half, line(b"{}") + line(b"[]")[:-1])[0]) == 2


def test_an_empty_line_is_a_disconnect(half: SimpleNamespace) -> None:
    out, echo, _ = run(half, line(b"{}") + b"\n" + line(b"{}"))
    assert [type(record) for record in out] == [Trade, Disconnect, Trade]
    assert out[1] == Disconnect("echo", None, AT)
    assert echo.resets == 1


@pytest.mark.parametrize("blocks", [(b"\n\n\n",), (b"\n", b"\n"), (b"\n", b"", b"\n\n")])
def test_disconnects_in_a_row_are_one_record(half: SimpleNamespace, blocks: tuple[bytes, ...]) -> None:
    out, echo, _ = run(half, line(b"{}"), *blocks, line(b"{}") + b"\n")
    assert [type(record) for record in out] == [Trade, Disconnect, Trade, Disconnect]
    assert echo.resets == sum(map(len, blocks)) + 1


def test_a_disconnect_before_any_message_has_no_time_and_no_record(half: SimpleNamespace) -> None:
    out, echo, last = run(half, b"\n" + line(b"{}"))
    assert [type(record) for record in out] == [Trade]
    assert (echo.resets, last) == (1, AT)


@pytest.mark.parametrize(
    ("bad", "local", "reason"),
    [
        (line(b"{"), AT, "truncated"),
        (line(b""), AT, "truncated"),
        (line(b'{"k":"t","s":"A","p":1,"t":2}x'), AT, "trailing"),
        (line(b'{"k":"t","s":"A","p":01,"t":2}'), AT, "Decode"),
        (line(b'{"k":"t","s":"A","p":1,"t":2,}'), AT, "Decode"),
        (line(b"[" * 5000), AT, "Error"),
        (line(b'{"k":"t","s":"A","p":0,"t":2}'), AT, "ZeroDivisionError: no price"),
        (line(b'"fail"'), AT, "KeyError: 'asked for'"),
        (b"hello\n", None, "local time"),
        (b"2020-02-01T00:00:00.000202Z {}\n", None, "local time"),
        (b"2020-13-01T00:00:00.0002024Z {}\n", None, "local time"),
        (TIME + b"{}\n", None, "local time"),
        (b"\xff" * 300 + b"\n", None, "local time"),
    ],
)
def test_errors_name_the_line(half: SimpleNamespace, bad: bytes, local: int | None, reason: str) -> None:
    out: list[Record] = []
    with pytest.raises(MappingError, match=reason) as caught:
        half.map_block(Echo(), line(b"{}") + bad + line(b"{}"), out, None)
    error = caught.value
    assert (error.exchange, error.local, error.line) == ("echo", local, bad[:-1][:200])
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
    assert len(out) == 1


def outcome(half: SimpleNamespace, block: bytes) -> tuple[Any, ...]:
    """All that a caller can see, and the state that is left behind."""
    mapper, out = Bitmex(TYPES), []  # type: ignore[var-annotated]
    try:
        last = half.map_block(mapper, block, out, None)
    except MappingError as error:
        last = (error.exchange, error.local, error.reason, error.line)
    return out, last, mapper._prices, mapper.disconnected


def block_of(*messages: Any) -> bytes:
    return b"".join(line(json.dumps(message, separators=(",", ":")).encode()) for message in messages)


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """Real messages with bytes cut out, put in, changed or doubled."""
    data = bytearray(block_of(*draw(st.lists(st.sampled_from(MESSAGES), min_size=1, max_size=3))))
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(29, max(29, len(data) - 1)))
        size = draw(st.integers(0, 20))
        junk = draw(
            st.binary(max_size=3)
            | st.sampled_from(
                [b'"', b"\\", b"{", b"}", b"[", b"]", b",", b":", b" ", b"null", b'"data":', b"-", b"0", b"e5", b"\t"]
            )
        )
        data[at : at + size] = draw(st.sampled_from([b"", junk, bytes(data[at : at + size]) * 2]))
    return bytes(data[: draw(st.integers(0, len(data)))] if draw(st.booleans()) else data)


@given(mutated())
@example(block_of(MESSAGES[0]) + b"\n" + block_of(MESSAGES[1]))
@example(block_of(MESSAGES[0]).replace(b'"action"', b'"action":"x","action"'))
@example(block_of(MESSAGES[0]).replace(b'{"symbol":"A"},"data"', b'{"symbol":[]},"data"'))
@settings(max_examples=600)
def test_both_halves_agree_on_any_bytes(pure: SimpleNamespace, compiled: SimpleNamespace, block: bytes) -> None:
    assert outcome(compiled, block) == outcome(pure, block)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["data", "table", "symbol", "x"]), inner, max_size=3)
    ),
    max_leaves=8,
)


@st.composite
def reworded(draw: st.DrawFn) -> bytes:
    """Real messages with other key orders, blanks, escapes and unknown members."""

    def again(value: Any) -> Any:
        if isinstance(value, list):
            return [again(item) for item in value]
        if not isinstance(value, dict):
            return value
        items = [(key, again(item)) for key, item in value.items()]
        if draw(st.booleans()):
            items.insert(
                draw(st.integers(0, len(items))), (draw(st.sampled_from(["zz", "filter", "size", "timestamp"])), draw(JSON))
            )
        return dict(draw(st.permutations(items)) if draw(st.booleans()) else items)

    separators = draw(st.sampled_from([(",", ":"), (", ", ": "), (" ,", " :")]))
    messages = draw(st.lists(st.sampled_from(MESSAGES), min_size=1, max_size=3))
    texts = [json.dumps(again(message), separators=separators, ensure_ascii=draw(st.booleans())) for message in messages]
    return b"".join(line(text.encode()) for text in texts)


@given(reworded())
@settings(max_examples=300)
def test_both_halves_agree_on_other_words(pure: SimpleNamespace, compiled: SimpleNamespace, block: bytes) -> None:
    assert outcome(compiled, block) == outcome(pure, block)


def test_plain_messages_never_reach_the_plain_half(compiled: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Or the compiled half would be slow without anybody noticing."""
    import tardis_market._c.scan as scan

    monkeypatch.setattr(scan, "map_message", lambda *_: pytest.fail("left to the plain half"))
    out: list[Record] = []
    compiled.map_block(Bitmex(TYPES), block_of(*MESSAGES), out, None)
    assert len(out) == 8
