"""The ledger against a naive reading of the same arrivals."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lakehouse.bronze.v1.normalized_event_pb2 import NormalizedEvent
from tardis_bronze import Ledger, Verdict, peek

PROPERTY = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


def event(seq: int, *, stream: str = "s", symbol: str = "XBTUSD", event_id: bytes | None = None) -> Any:
    own = f"{stream}/{symbol}/{seq}".encode() if event_id is None else event_id
    return SimpleNamespace(stream_id=stream, exchange="bitmex", symbol=symbol, stream_seq=seq, event_id=own)


arrivals = st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("XY"), st.integers(1, 30)), max_size=120)


@settings(PROPERTY, max_examples=200)
@given(arrivals)
def test_drops_repeats_and_shuffles_are_seen_as_they_are(order: list[tuple[str, str, int]]) -> None:
    ledger = Ledger()
    seen: dict[tuple[str, str], list[int]] = {}
    counts = {"fresh": 0, "repeated": 0, "reordered": 0}
    for stream, symbol, seq in order:
        before = seen.setdefault((stream, symbol), [])
        verdict = ledger.see(event(seq, stream=stream, symbol=symbol))
        newest = max(before, default=0)
        if seq in before:
            want = Verdict.REPEAT
        elif seq < newest:
            want = Verdict.REORDERED
        else:
            want = Verdict.NEW if seq == newest + 1 else Verdict.AHEAD
        assert verdict is want
        counts["repeated"] += want is Verdict.REPEAT
        counts["reordered"] += want is Verdict.REORDERED
        counts["fresh"] += verdict.fresh
        before.append(seq)
    report = ledger.report()
    missing = {key: sorted(set(range(1, max(seqs) + 1)) - set(seqs)) for key, seqs in seen.items()}
    assert (report.fresh, report.repeated, report.reordered) == (counts["fresh"], counts["repeated"], counts["reordered"])
    assert (report.seen, report.series, report.stale) == (len(order), len(seen), 0)
    assert report.lost == sum(map(len, missing.values()))
    listed = {(s.stream_id, s.symbol): [n for a, b in s.missing for n in range(a, b + 1)] for s in report.damaged}
    assert listed == {key: numbers for key, numbers in missing.items() if numbers}


@settings(PROPERTY)
@given(st.lists(st.integers(1, 60), max_size=100), st.integers(1, 4))
def test_memory_is_bounded_and_nothing_is_counted_twice(order: list[int], max_holes: int) -> None:
    ledger = Ledger(max_holes=max_holes, max_ids=1)
    fresh: list[int] = []
    for seq in order:
        if ledger.see(event(seq)).fresh:
            fresh.append(seq)
        assert all(len(series.missing) <= max_holes for series in ledger.report().damaged)
    assert len(fresh) == len(set(fresh))
    assert ledger.report().lost == max(order, default=0) - len(fresh)


def test_a_hole_that_was_given_up_makes_late_events_stale() -> None:
    ledger = Ledger(max_holes=1)
    verdicts = [ledger.see(event(seq)) for seq in (2, 4, 1, 3)]
    assert verdicts == [Verdict.AHEAD, Verdict.AHEAD, Verdict.STALE, Verdict.REORDERED]
    report = ledger.report()
    assert (report.lost, report.stale) == (1, 1)
    assert str(report).endswith("1 of 4 lost: 1 given up")


def test_an_id_that_comes_again_under_a_new_number_is_a_repeat() -> None:
    ledger = Ledger()
    assert ledger.see(event(1, event_id=b"same")) is Verdict.NEW
    assert ledger.see(event(2, event_id=b"same")) is Verdict.REPEAT
    assert ledger.see(event(3, event_id=b"other")) is Verdict.NEW
    assert ledger.report().lost == 0


def test_a_second_replay_is_another_stream() -> None:
    ledger = Ledger()
    assert ledger.see(event(1, stream="a", event_id=b"same")) is Verdict.NEW
    assert ledger.see(event(1, stream="b", event_id=b"same")) is Verdict.NEW


def test_events_without_a_number_are_judged_by_their_id() -> None:
    ledger = Ledger()
    assert [ledger.see(event(0, event_id=i)) for i in (b"1", b"2", b"1")] == [Verdict.NEW, Verdict.NEW, Verdict.REPEAT]
    assert [ledger.see(event(0, event_id=b"")) for _ in range(2)] == [Verdict.NEW, Verdict.NEW]
    assert ledger.report().series == 0


def test_a_consumer_that_joins_later_has_lost_nothing_before() -> None:
    ledger = Ledger(from_start=False)
    assert [ledger.see(event(seq)) for seq in (500, 501, 499)] == [Verdict.NEW, Verdict.NEW, Verdict.STALE]
    assert ledger.report().lost == 0


def test_a_stream_that_ended_can_be_forgotten() -> None:
    ledger = Ledger()
    for stream in ("a", "b"):
        ledger.see(event(3, stream=stream))
    ledger.forget("a")
    assert [series.stream_id for series in ledger.report().damaged] == ["b"]


def test_the_report_reads_well() -> None:
    ledger = Ledger()
    for seq in (1, 2, 2, 5, 7, 9, 4):
        ledger.see(event(seq))
    ledger.see(event(2, symbol=""))
    assert str(ledger.report()).splitlines() == [
        "8 events in 2 series: 7 new, 1 repeated, 1 reordered, 0 stale, 4 lost",
        "  bitmex XBTUSD of s: 3 of 9 lost: 3, 6, 8",
        "  bitmex (no symbol) of s: 1 of 2 lost: 1",
    ]


def test_messages_and_heads_are_both_taken() -> None:
    message = NormalizedEvent(exchange="bitmex", symbol="A", stream_id="s", stream_seq=1, event_id=b"1" * 16)
    ledger = Ledger()
    assert ledger.see(message) is Verdict.NEW
    assert ledger.see(peek(message.SerializeToString())) is Verdict.REPEAT
