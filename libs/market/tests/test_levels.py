"""Levels in all the forms that exchanges have."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Raw

from tardis_market.levels import each_level
from tardis_market.records import PAIRS, BookChange, Layout, Levels

TRIPLES = Layout(1, 2, "delete")
OBJECTS = Layout("p", "s")


def bids(half: SimpleNamespace, levels: Levels, layout: Layout) -> str:
    line: str = half.encode_ndjson([BookChange("x", "s", False, levels, [], 1, 1, layout)]).decode()
    return line.split('"bids":')[1].split(',"asks"', maxsplit=1)[0]


@pytest.mark.parametrize(
    ("levels", "layout", "expected"),
    [
        (b"[]", PAIRS, []),
        (b" [ ] ", PAIRS, []),
        ([], OBJECTS, []),
        (b'[["1.0","2"],["3","4.50"]]', PAIRS, [("1", "2"), ("3", "4.5")]),
        (Raw(b' [ [ 1.0 , 2 , "x" , [ "]" , { "a" : 1 } ] ] ] '), PAIRS, [("1", "2")]),
        (b'[["new",1,2],["delete",3,4],["deleted",5,6],["change",7,8]]', TRIPLES, [("1", "2"), ("3", "0"), ("5", "0"), ("7", "8")]),
        (b'[{"s":2,"p":"1.0"},{"p":3,"q":{"s":9},"s":"4"}]', OBJECTS, [("1", "2"), ("3", "4")]),
        (b'[{"\\u0070":"1","s":2}]', OBJECTS, [("1", "2")]),
        (b'[["1"],[]]', PAIRS, [("1", "null"), ("null", "null")]),
        (b'[{"p":1},{}]', OBJECTS, [("1", "null"), ("null", "null")]),
        (b'[[null,"NaN"],["\\"","x"],[true,"1"]]', PAIRS, [("null", "null"), ("null", "null"), ("null", "1")]),
        (
            [("1.0", 2), (3.5, None), (b'"4"', Raw(b'"5.0"')), (2**64, -1)],
            PAIRS,
            [("1", "2"), ("3.5", "null"), ("4", "5"), ("18446744073709552000", "-1")],
        ),
    ],
)
def test_forms(half: SimpleNamespace, levels: Levels, layout: Layout, expected: list[tuple[str, str]]) -> None:
    assert bids(half, levels, layout) == "[" + ",".join(f'{{"price":{p},"amount":{a}}}' for p, a in expected) + "]"


def test_digits_are_kept() -> None:
    assert [bytes(p) for p, _ in each_level(b"[[1.50,2]]", PAIRS) if isinstance(p, Raw)] == [b"1.50"]
    assert [a for _, a in each_level(b'[["delete",1,2]]', TRIPLES)] == ["0"]


@pytest.mark.parametrize(
    ("levels", "layout"),
    [(b"{}", PAIRS), (b"", PAIRS), (b"[1]", PAIRS), (b'[{"p":1}]', PAIRS), (b"[[1,2]]", OBJECTS), (b"[[1,2", PAIRS)],
)
def test_other_shapes_are_refused(half: SimpleNamespace, levels: bytes, layout: Layout) -> None:
    with pytest.raises(ValueError, match="level"):
        bids(half, levels, layout)


@given(st.binary(max_size=40) | st.text('[]{}",:\\ps1. ', max_size=40).map(str.encode), st.sampled_from([PAIRS, TRIPLES, OBJECTS]))
@settings(max_examples=500)
def test_bytes_that_are_no_levels_do_no_harm(
    compiled: SimpleNamespace, pure: SimpleNamespace, levels: bytes, layout: Layout
) -> None:
    try:
        expected = bids(pure, levels, layout)
    except ValueError:
        expected = None
    try:
        got = bids(compiled, levels, layout)
    except ValueError:
        got = None
    assert expected is None or got == expected
