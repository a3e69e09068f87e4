"""What a rule takes, and what it leaves to the next one or to `map`; the same in both halves."""

from __future__ import annotations

from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any

import pytest

from tardis_market.records import BookChange, DerivativeTicker, Layout, Record, Trade
from tardis_market.rules import LOCAL, Choice, Const, Mapper, Root, Rule

TIME = b"2020-02-01T00:00:00.0002024Z"
AT = 15_805_152_000_002_024
OBJECTS = Layout("p", "s")


class Probe(Mapper):
    """Keeps what reached `map`."""

    exchange = "probe"

    def __init__(self, *rules: Rule) -> None:
        self.rules = rules
        self.left: list[bytes] = []
        self.calls: list[Any] = []

    def map(self, message: bytes, local: int) -> Iterable[Record]:
        self.left.append(message)
        return ()

    def rows(self, rows: list[Any], local: int, *extra: Any) -> Iterable[Record]:
        self.calls.append((rows, local, *extra))
        return ()

    def drop_small(self, trade: Trade, size: Any, feed: Any) -> Trade | None:
        self.calls.append((size, feed))
        return trade if size != 0 else None


def run(half: SimpleNamespace, rule: Rule, *messages: str) -> tuple[list[Any], Probe]:
    probe, out = Probe(rule), []  # type: ignore[var-annotated]
    half.map_block(probe, b"".join(TIME + b" " + message.encode() + b"\n" for message in messages), out, None)
    return out, probe


TRADE = Rule(
    {"e": "trade", "arg.feed": "live.*"},
    Trade,
    at="data",
    symbol="s",
    id="i?",
    price="p",
    amount="q",
    side=Choice("m", {"true": "sell", "false": "buy"}),
    timestamp="t",
)
HEAD = '{"e":"trade","arg":{"feed":"live.x"},"data":'
ROW = '{"s":"A","i":7,"p":"1.50","q":2.0,"m":true,"t":1580515200000}'
MADE = Trade("probe", "A", "7", "1.50", "2.0", "sell", 1_580_515_200_000, AT)


@pytest.mark.parametrize(
    "message",
    [
        f"{HEAD}{ROW}}}",
        f"{HEAD}[{ROW}]}}",
        f' {{ "data" : [ {ROW} ] , "arg" : {{ "x" : [1,{{}}] , "feed" : "live.x" }} , "e" : "trade" }} ',
        f'{{"x":{{"e":"quote","data":[]}},"e":"trade","arg":{{"feed":"live.x","e":"no"}},"data":{ROW},"z":null}}',
        f"{HEAD}{ROW}}}".replace('"A"', '"\\u0041"'),
        f"{HEAD}{ROW}}}".replace('"live', '"l\\u0069ve'),
        f"{HEAD}{ROW}}}".replace("1580515200000", '"2020-02-01T00:00:00.000Z"'),
        f"{HEAD}{ROW}}}".replace("1580515200000", '"2020-02-01T01:00:00+01:00"'),
        f"{HEAD}{ROW}}}".replace("}}", ',"note":"ü"}}'),
        f"{HEAD}{ROW}}}".replace('"i":7', '"i":"7","deep":' + "[" * 40 + "]" * 40),
    ],
)
def test_the_same_message_in_other_words(half: SimpleNamespace, message: str) -> None:
    out, probe = run(half, TRADE, message)
    assert out == [MADE]
    assert probe.left == []


@pytest.mark.parametrize(
    "message",
    [
        f"{HEAD}{ROW}}}".replace('"trade"', '"quote"'),
        f"{HEAD}{ROW}}}".replace('"trade"', '{"e":"trade"}'),
        f"{HEAD}{ROW}}}".replace('"trade"', "null"),
        f"{HEAD}{ROW}}}".replace("live.x", "liv"),
        f'{{"e":"trade","feed":"live.x","data":{ROW}}}',
        f'{{"e":"trade","arg":["feed","live.x"],"data":{ROW}}}',
        f'{{"arg":{{"e":"trade","feed":"live.x"}},"data":{ROW}}}',
        f"{HEAD}5}}",
        f"{HEAD}[5]}}",
        f"{HEAD}[{ROW},null]}}",
        f"{HEAD}{ROW}}}".replace('"data"', '"datum"'),
        f"{HEAD}{ROW}}}".replace('"p"', '"P"'),
        f"{HEAD}{ROW}}}".replace('"1.50"', "null"),
        f"{HEAD}{ROW}}}".replace('"1.50"', "true"),
        f"{HEAD}{ROW}}}".replace('"1.50"', "[1]"),
        f"{HEAD}{ROW}}}".replace('"m":true', '"m":0'),
        f"{HEAD}{ROW}}}".replace('"m":true', '"m":{}'),
        f"{HEAD}{ROW}}}".replace("1580515200000", "15805152000000000"),
        f"{HEAD}{ROW}}}".replace("1580515200000", '"soon"'),
        f"{HEAD}{ROW}}}".replace("1580515200000", '""'),
        '["trade"]',
        "5",
        "{}",
    ],
)
def test_what_does_not_fit_goes_to_map(half: SimpleNamespace, message: str) -> None:
    out, probe = run(half, TRADE, message)
    assert out == []
    assert probe.left == [message.encode()]


def test_the_last_of_two_equal_keys_counts(half: SimpleNamespace) -> None:
    out, _ = run(half, TRADE, f"{HEAD}{ROW}}}".replace('"p":"1.50"', '"p":"9","p":"1.50"'))
    assert out == [MADE]


def test_numbers_as_ids_are_printed_as_javascript_does(half: SimpleNamespace) -> None:
    for text, shown in (
        ("2552833547970376704", "2552833547970376700"),
        ("1.0", "1"),
        ("999999999999999", "999999999999999"),
        ("null", None),
    ):
        out, _ = run(half, TRADE, f"{HEAD}{ROW}}}".replace('"i":7', f'"i":{text}'))
        assert out[0].id == shown


def test_an_empty_list_is_taken(half: SimpleNamespace) -> None:
    out, probe = run(half, TRADE, f"{HEAD}[]}}")
    assert (out, probe.left) == ([], [])


def test_levels_stay_the_bytes_of_the_exchange(half: SimpleNamespace) -> None:
    rule = Rule({"k": "book"}, BookChange, symbol="s", is_snapshot="full", bids="b", asks="a?", timestamp=LOCAL, layout=OBJECTS)
    out, _ = run(half, rule, '{"k":"book","s":"A","full":true,"b":[{"p":"1","s":2}],"a":[]}')
    assert out == [BookChange("probe", "A", True, b'[{"p":"1","s":2}]', b"[]", AT, AT, OBJECTS)]
    out, _ = run(half, rule, '{"k":"book","s":"A","full":false,"b":[{"p":"\\u0031","s":2}]}')
    assert out == [BookChange("probe", "A", False, [("1", "2")], None, AT, AT, OBJECTS)]  # type: ignore[arg-type]
    for wrong in ('"full":1', '"full":"true"', '"full":null'):
        assert run(half, rule, f'{{"k":"book","s":"A",{wrong},"b":[],"a":[]}}')[0] == []
    assert run(half, rule, '{"k":"book","s":"A","full":true,"b":{},"a":[]}')[0] == []


def test_hooks_see_extra_values_and_may_drop(half: SimpleNamespace) -> None:
    fields: dict[str, Any] = {"symbol": Root("sym"), "price": "p", "amount": "q", "side": Const("unknown"), "timestamp": LOCAL}
    rule = Rule({"k": "t"}, Trade, at="d", then=Probe.drop_small, extra=("q", Root("feed.id")), **fields)
    out, probe = run(
        half,
        rule,
        '{"k":"t","sym":"A","feed":{"id":"x1"},"d":[{"p":"1","q":5},{"p":"2","q":0}]}',
        '{"d":{"p":"3","q":"123456789012345678901"},"sym":"B","k":"t"}',
    )
    assert [(trade.symbol, trade.price, trade.amount, trade.side) for trade in out] == [
        ("A", "1", "5", "unknown"),
        ("B", "3", "123456789012345678901", "unknown"),
    ]
    assert probe.calls == [(5, "x1"), (0, "x1"), ("123456789012345678901", None)]


def test_rows_as_tuples(half: SimpleNamespace) -> None:
    rule = Rule(
        {"k": "t"},
        tuple,
        at="d",
        then=Probe.rows,
        extra=(Root("seq"),),
        a="a",
        b="b?",
        c=Choice("c", {"1": True}, other=False),
        d=3,
    )
    _, probe = run(half, rule, '{"k":"t","seq":12,"d":[{"a":"x","b":null,"c":1},{"a":true,"b":1.50}]}', '{"k":"t","d":[]}')
    assert probe.calls == [([("x", None, True, 3), ("true", "1.50", False, 3)], AT, 12), ([], AT, None)]


def test_marks_inside_the_row(half: SimpleNamespace) -> None:
    rule = Rule({"data.e": "up*"}, Trade, at="data", symbol="s", price="p", amount=None, side=Const("buy"), timestamp=LOCAL)
    out, probe = run(
        half,
        rule,
        '{"data":{"e":"update","s":"A","p":1}}',
        '{"data":{"s":"A","p":1,"e":"down"}}',
        '{"data":[{"e":"update","s":"A","p":1}]}',
        '{"data":{"s":"A","p":1}}',
        '{"data":{}}',
    )
    assert len(out) == 1
    assert len(probe.left) == 4


def test_the_same_key_inside_and_outside_of_the_row(half: SimpleNamespace) -> None:
    rule = Rule({"data.e": "x", "e": "y"}, Trade, at="data", symbol="s", price="p", side=Const("buy"), timestamp=LOCAL)
    out, probe = run(
        half,
        rule,
        '{"e":"y","data":{"e":"x","s":"A","p":1}}',
        '{"e":"x","data":{"e":"x","s":"A","p":1}}',
        '{"e":"y","data":{"e":"y","s":"A","p":1}}',
    )
    assert len(out) == 1
    assert len(probe.left) == 2


def test_a_value_on_the_way_to_another(half: SimpleNamespace) -> None:
    rule = Rule({"a.b": "x"}, tuple, at="d", then=Probe.rows, extra=(Root("a"),), s="s")
    out, probe = run(half, rule, '{"a":{"b":"x"},"d":{"s":"A"}}', '{"a":5,"d":{"s":"A"}}')
    assert (out, probe.calls, len(probe.left)) == ([], [([("A",)], AT, None)], 1)


def test_missing_fields_are_none(half: SimpleNamespace) -> None:
    rule = Rule({"k": "t"}, DerivativeTicker, symbol="s", mark_price="m?", funding_timestamp="f?", timestamp="t")
    out, _ = run(half, rule, '{"k":"t","s":"A","t":5}', '{"k":"t","s":"A","t":5,"m":1e5,"f":"2020-02-01T00:00:00.0001Z"}')
    assert out[0] == DerivativeTicker("probe", "A", None, None, None, None, None, None, None, 5, AT)
    assert (out[1].mark_price, out[1].funding_timestamp) == ("1e5", 1_580_515_200_000_100)


def test_a_rule_that_is_too_large_for_the_scanner_still_works(half: SimpleNamespace) -> None:
    keys: dict[str, Any] = {f"k{i}": f"k{i}" for i in range(40)}
    _, probe = run(
        half, Rule({"k": "t"}, tuple, then=Probe.rows, **keys), '{"k":"t",' + ",".join(f'"k{i}":{i}' for i in range(40)) + "}"
    )
    assert probe.calls == [([tuple(str(i) for i in range(40))], AT)]


def test_wrong_rules_are_refused() -> None:
    with pytest.raises(TypeError, match="Trade has no field colour"):
        Rule({}, Trade, colour="c")
    with pytest.raises(ValueError, match="needs a hook"):
        Rule({}, tuple, a="a")
    with pytest.raises(ValueError, match="come from the root"):
        Rule({}, tuple, then=Probe.rows, extra=("a",), a="a")
    with pytest.raises(ValueError, match="outside of 'd'"):
        Rule({}, Trade, at="d", symbol=Root("d.s"))
    with pytest.raises(ValueError, match="one key deep"):
        Rule({"d.e.f": "x"}, Trade, at="d")
