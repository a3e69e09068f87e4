"""Equal records at one local time are numbered."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Raw, structs

from tardis_market.records import BookChange, BookTicker, Disconnect, Record, Trade


def trade(local: int, price: Any = "1", symbol: str = "s") -> Trade:
    return Trade("x", symbol, None, price, "1", "buy", 5, local)


def repeats(half: SimpleNamespace, *blocks: list[Any]) -> list[int]:
    carry = None
    for block in blocks:
        carry = half.mark_repeats(block, carry)
    return [record.repeat for block in blocks for record in block]


def test_twins_are_counted(half: SimpleNamespace) -> None:
    assert repeats(half, [trade(1), trade(1), trade(1, "2"), trade(1), trade(1, "2")]) == [0, 1, 0, 2, 1]


def test_a_new_local_time_starts_anew(half: SimpleNamespace) -> None:
    assert repeats(half, [trade(1), trade(1), trade(2), trade(2), trade(1)]) == [0, 1, 0, 1, 0]


@pytest.mark.parametrize("cut", range(6))
def test_blocks_do_not_matter(half: SimpleNamespace, cut: int) -> None:
    records = [trade(1), trade(2), trade(2), trade(2), trade(3), trade(3)]
    assert repeats(half, records[:cut], [], records[cut:]) == [0, 0, 1, 2, 0, 1]


def test_other_types_and_symbols_are_not_twins(half: SimpleNamespace) -> None:
    book = BookChange("x", "s", False, [("1", "2")], b"[]", 5, 1)
    ticker = BookTicker("x", "s", "1", "1", "1", "1", 5, 1)
    records: list[Record] = [
        trade(1),
        trade(1, symbol="t"),
        book,
        ticker,
        Disconnect("x", None, 1),
        structs.replace(book),
        structs.replace(ticker),
    ]
    assert repeats(half, records) == [0, 0, 0, 0, 0, 1, 1]


def test_levels_are_compared(half: SimpleNamespace) -> None:
    def book(bids: Any) -> BookChange:
        return BookChange("x", "s", False, bids, b"[]", 5, 1)

    records = [
        book([("1", "2")]),
        book([("1", "3")]),
        book([("1", "2")]),
        book(Raw(b"[[1,2]]")),
        book(Raw(b"[[1,2]]")),
        book(b"[]"),
    ]
    assert repeats(half, records) == [0, 0, 1, 0, 1, 0]


def test_long_runs(half: SimpleNamespace) -> None:
    records = [trade(1, str(i % 30)) for i in range(90)]
    assert repeats(half, records) == [0] * 30 + [1] * 30 + [2] * 30


@given(st.lists(st.tuples(st.integers(1, 3), st.sampled_from(["1", "2", 1, None])), max_size=30), st.integers(0, 30))
@settings(max_examples=200)
def test_both_halves_agree(pure: SimpleNamespace, compiled: SimpleNamespace, records: list[tuple[int, Any]], cut: int) -> None:
    made = [[trade(*record) for record in sorted(records, key=lambda r: r[0])] for _ in range(2)]
    assert repeats(pure, made[0][:cut], made[0][cut:]) == repeats(compiled, made[1][:cut], made[1][cut:])


def test_only_records_are_marked(half: SimpleNamespace) -> None:
    with pytest.raises((TypeError, AttributeError)):
        half.mark_repeats(["no record"], None)
