"""The encoders follow the tables; the compiled one writes the same bytes as the plain one."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Raw

from tardis_market import records as R
from tardis_market.tables import TABLES, Field, Kind, Table

LOCAL = 15_805_152_000_002_024
DECIMALS = st.one_of(
    st.decimals(allow_nan=False, allow_infinity=False, places=8).map(str),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.integers(),
    st.floats(),
    st.sampled_from(["NaN", "", "0.00", "1e-7", b'"12.50"', Raw(b"3.10"), Raw(b'"4"')]),
)
JSON_NUMBERS = st.floats(allow_nan=False, allow_infinity=False).map(repr)
TEXTS = st.text(st.characters(codec="utf-8"), max_size=40)
TIMES = st.one_of(st.integers(0, 10**14 - 1), st.integers(10**14, 10**16 - 1), st.integers(10**16, 10**17))
VALUES: dict[Kind, st.SearchStrategy[Any]] = {
    Kind.TEXT: TEXTS,
    Kind.CHOICE: TEXTS,
    Kind.NUMBER: DECIMALS,
    Kind.INTEGER: st.one_of(st.integers(0, 10**9), st.floats(0, 1e9)),
    Kind.TIME: TIMES,
    Kind.FLAG: st.booleans(),
    Kind.RENDERED: st.lists(st.sampled_from(['{"price":1,"amount":2}', "{}"]), max_size=3).map(
        lambda parts: ",".join(parts).encode()
    ),
    Kind.STRINGS: st.lists(TEXTS, max_size=3),
}


def raw_levels(pairs: list[tuple[str, str]], form: str) -> tuple[R.Levels, R.Layout]:
    """The same levels in one of the forms that mappers leave them in."""
    strings = {
        "list": ["[{0},{1}]", R.PAIRS],
        "strings": ['["{0}", "{1}", "1"]', R.PAIRS],
        "triple": ['["new",{0},{1}]', R.Layout(1, 2, "delete")],
    }
    strings["object"] = ['{{"x":[1,{{"px":9}}],"px":"{0}","sz":{1}}}', R.Layout("px", "sz")]
    if form == "pairs":
        return list(pairs), R.PAIRS
    template, layout = strings[form]
    return ("[" + " , ".join(str(template).format(*pair) for pair in pairs) + "]").encode(), layout  # type: ignore[return-value]


@st.composite
def a_record(draw: st.DrawFn, table: Table) -> R.Record:
    values: dict[str, Any] = {"exchange": draw(TEXTS), "symbol": draw(st.none() | TEXTS)}
    for field in table.fields:
        if field.kind is not Kind.LEVELS and field.attr not in values:
            values[field.attr] = draw(value_of(field))
    if table.record is R.BookChange:
        pairs = draw(st.lists(st.tuples(JSON_NUMBERS, JSON_NUMBERS), max_size=4))
        forms = ["pairs", "list", "strings", "triple", "object"]
        values["bids"], values["layout"] = raw_levels(pairs, draw(st.sampled_from(forms)))
        values["asks"] = values["bids"] if isinstance(values["bids"], list) else Raw(values["bids"])
    return table.record(**values)


def value_of(field: Field) -> st.SearchStrategy[Any]:
    strategy = VALUES[field.kind]
    if field.attr == "id":
        strategy = strategy | st.integers()
    always = field.attr in ("timestamp", "local_timestamp", "bids", "asks")
    return strategy if always else st.none() | strategy


RECORDS = st.lists(st.one_of([a_record(table) for table in TABLES]), max_size=4)


@given(RECORDS)
@settings(max_examples=400)
def test_both_halves_write_the_same(pure: SimpleNamespace, compiled: SimpleNamespace, records: list[R.Record]) -> None:
    lines = pure.encode_ndjson(records)
    assert compiled.encode_ndjson(records) == lines
    assert compiled.encode_frames(records) == pure.encode_frames(records)
    for record, line in zip(records, lines.decode().split("\n"), strict=False):
        shown = json.loads(line)
        table = next(table for table in TABLES if table.record is type(record))
        expected = [f.key for f in table.fields if f.key and getattr(record, f.attr) is not None]
        assert list(shown) == ["type", *expected]
        assert shown["type"] == table.type


def test_every_table_has_a_line(half: SimpleNamespace) -> None:
    records = [
        R.Trade("bitmex", "XBTUSD", 5, "9349.50", Raw(b"2030"), "sell", 1_580_515_200_026, LOCAL),
        R.BookChange("x", "s", True, [("1.0", 2)], b'[["3","0.0"]]', 1_580_515_200_000_001, LOCAL),
        R.DerivativeTicker("x", "s", "1", None, "NaN", 1_580_515_200_000, None, None, "2", 1, LOCAL),
        R.BookSnapshot("x", "s", "quote", 1, 0, 0.5, b'{"price":1,"amount":2}', b"{}", 1, LOCAL),
        R.Disconnect("x", None, LOCAL),
        R.Disconnect("x", None, LOCAL, ["a", 'b"']),
        R.Error("x", None, LOCAL, "gone", 3),
    ]
    local = '"localTimestamp":"2020-02-01T00:00:00.000202Z"'
    first = '"timestamp":"1970-01-01T00:00:00.001Z",' + local
    assert half.encode_ndjson(records).decode().splitlines() == [
        '{"type":"trade","symbol":"XBTUSD","exchange":"bitmex","id":"5","price":9349.5,"amount":2030,"side":"sell",'
        f'"timestamp":"2020-02-01T00:00:00.026Z",{local}}}',
        '{"type":"book_change","symbol":"s","exchange":"x","isSnapshot":true,"bids":[{"price":1,"amount":2}],'
        f'"asks":[{{"price":3,"amount":0}}],"timestamp":"2020-02-01T00:00:00.000001Z",{local}}}',
        '{"type":"derivative_ticker","symbol":"s","exchange":"x","lastPrice":1,"fundingRate":null,'
        f'"fundingTimestamp":"2020-02-01T00:00:00.000Z","markPrice":2,{first}}}',
        '{"type":"book_snapshot","symbol":"s","exchange":"x","name":"quote","depth":1,"interval":0,"grouping":0.5,'
        f'"bids":[{{"price":1,"amount":2}}],"asks":[{{}}],{first}}}',
        f'{{"type":"disconnect","exchange":"x",{local}}}',
        f'{{"type":"disconnect","exchange":"x",{local},"symbols":["a","b\\""]}}',
        f'{{"type":"error","exchange":"x",{local},"details":"gone","subSequentErrorsCount":3}}',
    ]


@pytest.mark.parametrize("size", [0, 1, 50, 125, 126, 300, 65_400, 65_536, 70_000])
def test_frames_carry_their_length(half: SimpleNamespace, size: int) -> None:
    records = [R.Error("x", None, LOCAL, "d" * size, 1), R.Disconnect("x", None, LOCAL)]
    data, payloads = half.encode_frames(records), []
    while data:
        assert data[0] == 0x81
        head = {126: 4, 127: 10}.get(data[1], 2)
        length = int.from_bytes(data[2:head], "big") if head > 2 else data[1]
        payloads.append(data[head : head + length])
        data = data[head + length :]
    assert b"\n".join(payloads) + b"\n" == half.encode_ndjson(records)


@pytest.mark.parametrize(
    "text", ['a"b', "back\\slash", "\b\t\n\f\r", "\x00\x1f\x7f", "ünï", "\u2028", "𝒳", "", "x" * 31 + '"', "long " * 99 + "\\"]
)
def test_strings_are_escaped_as_json_stringify_does(half: SimpleNamespace, text: str) -> None:
    line = half.encode_ndjson([R.Disconnect(text, None, LOCAL)]).decode()
    assert line.startswith('{"type":"disconnect","exchange":' + json.dumps(text, ensure_ascii=False) + ",")


@pytest.mark.parametrize(
    "record",
    [
        R.Trade(5.0, "s", None, "1", "1", "buy", 1, 1),  # type: ignore[arg-type]
        R.Trade("x", "s", True, "1", "1", "buy", 1, 1),
        R.Trade("x", "s", None, [], "1", "buy", 1, 1),  # type: ignore[arg-type]
        R.Trade("x", "s", None, "1", "1", "buy", "1", 1),  # type: ignore[arg-type]
        R.BookChange("x", "s", True, [("1",)], [], 1, 1),  # type: ignore[list-item]
        R.BookChange("x", "s", True, [["1", "2"]], [], 1, 1),  # type: ignore[list-item]
        "no record",
    ],
)
def test_wrong_types_are_refused(half: SimpleNamespace, record: Any) -> None:
    with pytest.raises(TypeError):
        half.encode_ndjson([R.Disconnect("x", None, LOCAL), record])
    with pytest.raises(TypeError):
        half.encode_frames([record])


def test_lone_surrogates_cannot_be_written(half: SimpleNamespace) -> None:
    with pytest.raises(UnicodeEncodeError):
        half.encode_ndjson([R.Disconnect("\ud800", None, LOCAL)])
