"""Delivery around a backend that fails as told: bounded retries, order within a key, refusals set aside."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from tardis_bronze import EventHead
from tardis_eventbus import DELIVERED, Deliverer, Limits, Outcome, RetryPolicy, Status, dedup_id, key_of

RETRY = Outcome(Status.RETRY, "busy")
REFUSED = Outcome(Status.REFUSED, "no")


def event(symbol: str, number: int, size: int = 10) -> EventHead:
    return EventHead("test", "bitmex", symbol, 2, 100, number.to_bytes(16, "big"), "stream", number, b"x" * size)


class Bus:
    """Takes what `decide` says, and within one call keeps the order of a key, as every backend must."""

    name = "memory"

    def __init__(self, decide: object = lambda event: DELIVERED) -> None:
        self.stored: list[EventHead] = []
        self.calls: list[int] = []
        self._decide = decide

    async def open(self) -> Limits:
        return Limits(event_bytes=100, batch_events=50)

    async def publish(self, events: Sequence[EventHead]) -> list[Outcome]:
        self.calls.append(len(events))
        outcomes: list[Outcome] = []
        held = set()
        for item in events:
            outcome = RETRY if key_of(item) in held else self._decide(item)  # type: ignore[operator]
            if outcome.status is Status.RETRY:
                held.add(key_of(item))
            elif outcome.status is Status.DELIVERED:
                self.stored.append(item)
            outcomes.append(outcome)
        return outcomes

    async def close(self) -> None:
        pass


class Clock:
    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


def deliverer(bus: Bus, clock: Clock, **policy: float) -> Deliverer:
    limits = Limits(event_bytes=100, batch_events=50)
    return Deliverer(bus, limits, RetryPolicy(**policy), max_batch=20, clock=clock, sleep=clock.sleep)  # type: ignore[arg-type]


async def test_batches_are_clamped_and_everything_is_delivered() -> None:
    bus = Bus()
    report = await deliverer(bus, Clock()).deliver([event("A", n) for n in range(50)])
    assert (report.delivered, report.refused, report.left) == (50, [], [])
    assert bus.calls == [20, 20, 10]


async def test_an_event_over_the_limit_is_refused_and_blocks_nobody() -> None:
    bus = Bus()
    large = event("A", 1, size=101)
    report = await deliverer(bus, Clock()).deliver([event("A", 0), large, event("A", 2)])
    assert [(item, "101 bytes" in reason) for item, reason in report.refused] == [(large, True)]
    assert report.delivered == 2


async def test_refusals_are_handed_out_with_their_reason() -> None:
    bus = Bus(lambda item: REFUSED if item.stream_seq == 3 else DELIVERED)
    report = await deliverer(bus, Clock()).deliver([event("A", n) for n in range(6)])
    assert report.refused == [(event("A", 3), "no")]
    assert report.delivered == 5


async def test_a_bus_that_stays_busy_leaves_the_events_in_order() -> None:
    clock = Clock()
    bus = Bus(lambda item: RETRY if item.symbol == "A" else DELIVERED)
    events = [event(symbol, n) for n in range(30) for symbol in "AB"]
    report = await deliverer(bus, clock, max_attempts=4).deliver(events)
    assert report.left == [item for item in events if item.symbol == "A"]
    assert report.reason == "busy"
    assert report.delivered == 30
    assert 3 <= len(clock.slept) <= 5


async def test_time_bounds_the_retries_too() -> None:
    clock = Clock()
    report = await deliverer(Bus(lambda item: RETRY), clock, max_attempts=10**6, max_elapsed_s=30.0).deliver([event("A", 1)])
    assert report.left
    assert clock.now < 40


def test_delays_have_full_jitter_and_a_ceiling() -> None:
    policy = RetryPolicy(first_delay_s=0.1, max_delay_s=2)
    for attempt in range(12):
        assert all(0 <= policy.delay(attempt) <= min(2, 0.1 * 2**attempt) for _ in range(50))


def test_the_dedup_id_tells_a_second_replay_from_a_repeat() -> None:
    first = event("A", 1)
    assert dedup_id(first) == f"{1:032x}/stream"
    second = EventHead("test", "bitmex", "A", 2, 100, first.event_id, "other", 1, b"x")
    assert dedup_id(first) != dedup_id(second)


@settings(max_examples=80, deadline=None)
@given(seed=st.integers(0, 10**9), loss=st.floats(0, 0.9))
async def test_nothing_overtakes_within_its_key_and_nothing_is_lost(seed: int, loss: float) -> None:
    choice = random.Random(seed)
    bus = Bus(lambda item: RETRY if choice.random() < loss else DELIVERED)
    events = [event(choice.choice("ABC"), n) for n in range(100)]
    report = await deliverer(bus, Clock(), max_attempts=50, max_elapsed_s=10**6).deliver(events)
    by_key = defaultdict(list)
    for item in bus.stored + report.left:
        by_key[item.symbol].append(item.stream_seq)
    assert sum(map(len, by_key.values())) == 100
    assert all(numbers == sorted(numbers) for numbers in by_key.values())
