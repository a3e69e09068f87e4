"""Levels in every form that mappers leave them in: both halves write the same bytes, and upb reads the exchange's own digits."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from msgspec import Raw

from tardis_bronze import decode
from tardis_bronze.split import split
from tardis_bronze.stream import BronzeStream as PlainStream
from tardis_market.records import PAIRS, BookChange, Layout, Levels

compiled = pytest.importorskip("tardis_bronze._c.write", reason="the compiled half was not built")

MARKED = Layout(price=1, amount=2, delete="delete")
NAMED = Layout(price="price", amount="size")
LAYOUTS = st.sampled_from([PAIRS, Layout(price=2, amount=0), Layout(price=5, amount=1), MARKED, NAMED])

numbers = st.from_regex(r"(0|[1-9][0-9]{0,20})(\.[0-9]{1,12})?", fullmatch=True)
texts = st.sampled_from(["", "é", "1" * 16, "2" * 17, "3" * 61, "4" * 62, "5" * 130, "null"])
values = st.one_of(
    numbers, numbers.map(lambda t: f'"{t}"'), texts.map(lambda t: f'"{t}"'), st.sampled_from(["null", "[1]", r'"\u0031"'])
)
gaps = st.sampled_from(["", "", "", " ", "\n\t"])


@st.composite
def level_text(draw: st.DrawFn, layout: Layout) -> str:
    """Most without blanks, as exchanges write them; some with."""
    gap = draw(gaps)
    row = draw(st.lists(values, min_size=1, max_size=7))
    if isinstance(layout.price, int):
        if layout.delete is not None:
            row[0] = draw(st.sampled_from(['"new"', '"delete"', '"deleted"', "1"]))
        return "[" + gap + f"{gap},{gap}".join(row) + gap + "]"
    keys = draw(st.permutations(["price", "size", "id", r"pric\u0065", "sizes", ""]))
    members = [f'"{key}"{gap}:{gap}{value}' for key, value in zip(keys, row, strict=False)]
    return "{" + gap + f"{gap},{gap}".join(members) + gap + "}"


@st.composite
def json_levels(draw: st.DrawFn) -> tuple[bytes, Layout]:
    layout = draw(LAYOUTS)
    gap = draw(gaps)
    rows = draw(st.lists(level_text(layout), max_size=6))
    return (gap + "[" + f"{gap},{gap}".join(rows) + "]" + gap).encode(), layout


def written(half: Any, levels: Levels, layout: Layout) -> bytes | None:
    stream = half(source="s", origin=2, stream_id="x", meta={})
    try:
        (lane,) = stream.encode([BookChange("bitmex", "A", False, levels, [], 1, 1, layout)], 1)
    except ValueError:
        return None
    data: bytes = lane.data
    return data


def bids(data: bytes | None) -> list[tuple[str, str]]:
    assert data is not None
    (event,) = split(data)
    return [(level.price_str, level.qty_str) for level in decode(event).book_change.bids]


@given(json_levels())
@settings(max_examples=200)
def test_json_in_all_styles(case: tuple[bytes, Layout]) -> None:
    levels, layout = case
    expected = written(PlainStream, levels, layout)
    assert written(compiled.BronzeStream, levels, layout) == expected
    assert written(compiled.BronzeStream, Raw(levels), layout) == expected


@given(json_levels(), st.data())
@example((b'[["1","2"],["3"', PAIRS), None)
@settings(max_examples=200)
def test_damaged_json_does_no_harm(case: tuple[bytes, Layout], data: st.DataObject | None) -> None:
    """What the plain half refuses may pass or raise here; what it takes must be equal."""
    levels, layout = case
    if data is not None:
        at = data.draw(st.integers(0, len(levels)))
        levels = levels[:at] + data.draw(st.sampled_from([b"", b'"', b"\\", b",", b"]", b"\xff", b"[", b"}"])) + levels[at + 1 :]
        levels = levels[: data.draw(st.integers(0, len(levels)) | st.just(len(levels)))]
    expected = written(PlainStream, levels, layout)
    got = written(compiled.BronzeStream, levels, layout)
    assert expected is None or got == expected


@pytest.mark.parametrize(
    ("levels", "layout"),
    [
        (b'[["1.50","2"],["3","4"]]', PAIRS),
        (b'[["1.50","2"], ["3","4"]]', PAIRS),
        (b'[[1.50,"2","x"],[3,4,[]]]', PAIRS),
        (b'[["new",1.50,2],["new","3","4","5","6"]]', MARKED),
        (b'[{"price":"1.50","size":2},{"size":"4","id":{"price":0},"price":3}]', NAMED),
        ([("1.50", "2"), (b'"3"', 4)], PAIRS),
    ],
)
def test_plain_and_odd_levels_follow_each_other(levels: Levels, layout: Layout) -> None:
    for half in (PlainStream, compiled.BronzeStream):
        assert bids(written(half, levels, layout)) == [("1.50", "2"), ("3", "4")]


def test_deleted_levels_have_no_amount() -> None:
    """The zero stands outside the exchange's text, however much of that is left behind it."""
    rows = ",".join(f'["delete",{i},"{"9" * i}"]' for i in range(1, 40))
    expected = [(str(i), "0") for i in range(1, 40)]
    for half in (PlainStream, compiled.BronzeStream):
        assert bids(written(half, f"[{rows}]".encode(), MARKED)) == expected


@given(st.lists(st.tuples(*[st.text(st.characters(exclude_categories=["Cs"]), max_size=20) | numbers] * 2), max_size=6))
def test_pairs_of_any_text(pairs: list[tuple[str, str]]) -> None:
    levels: Any = pairs
    assert written(compiled.BronzeStream, levels, PAIRS) == written(PlainStream, levels, PAIRS)


@pytest.mark.parametrize("layout", [Layout(price=0, amount=-1), Layout(price=-1, amount=0)])
@pytest.mark.parametrize("levels", [b'[["1","2"]]', b'[{"1":"2"}]'])
def test_nothing_in_front_of_a_row_is_read(levels: bytes, layout: Layout) -> None:
    assert written(compiled.BronzeStream, levels, layout) is None
