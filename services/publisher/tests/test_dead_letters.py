"""What cannot be published is set aside, whatever it is, and the lane goes on; the counts close."""

from __future__ import annotations

import asyncio
import hashlib
import os
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from itertools import count

import pytest
from nats.js.api import ConsumerConfig

from tardis_bronze import BronzeStream, EventHead, LaneEvents, peek, read_pack, write_pack
from tardis_bronze.wire import bytes_field, sized
from tardis_eventbus import DELIVERED, Deliverer, Limits, Outcome, RetryPolicy, Status
from tardis_handoff import dead_letter_subject, lane_durable, lane_subject, provision, stream_name
from tardis_jetstream import Access, Connection, Puller, read_stream
from tardis_market.records import Record, Trade
from tardis_publisher.dead_letters import DeadLetters
from tardis_publisher.lane import LanePublisher
from tardis_telemetry import REGISTRY
from tardis_testing import NatsServer

NUMBERS = count(1)
MAX_PAYLOAD = 1 << 20


def take(event: EventHead) -> Outcome:
    return DELIVERED


def refuse(event: EventHead) -> Outcome:
    return Outcome(Status.REFUSED, "not\r\nthis one")


class Bus:
    name = "nats"

    def __init__(self, decide: Callable[[EventHead], Outcome] = take) -> None:
        self.stored: list[EventHead] = []
        self.decide = decide

    async def open(self) -> Limits:
        return Limits(event_bytes=MAX_PAYLOAD, batch_events=100)

    async def publish(self, events: Sequence[EventHead]) -> list[Outcome]:
        outcomes = [self.decide(event) for event in events]
        self.stored += [event for event, outcome in zip(events, outcomes, strict=True) if outcome.status is Status.DELIVERED]
        return outcomes

    async def close(self) -> None: ...


@pytest.fixture(autouse=True)
def short_pulls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tardis_publisher.lane.PULL_WAIT_S", 0.2)


@pytest.fixture
async def queue(nats_server: NatsServer) -> AsyncIterator[Connection]:
    made = Connection(Access(servers=(nats_server.url,)), name="test")
    await provision(made, ["nats"], lanes=1, max_bytes=1 << 26)
    yield made
    await made.close()


@asynccontextmanager
async def publishing(queue: Connection, bus: Bus) -> AsyncIterator[None]:
    stop = asyncio.Event()
    policy = RetryPolicy(max_attempts=2, max_elapsed_s=1)
    deliverer = Deliverer(bus, await bus.open(), policy, max_batch=100)
    task = asyncio.create_task(LanePublisher("nats", 0, queue, deliverer).run(stop))
    try:
        yield
    finally:
        stop.set()
        await asyncio.wait_for(task, 20)


def events(number: int) -> list[bytes]:
    stream = BronzeStream(source="t", origin=2, stream_id=f"s{next(NUMBERS)}", meta={}, lanes=1)
    records: list[Record] = [
        Trade("bitmex", "XBTUSD", str(n), "1.5", "2", "buy", 1580515200000, 15805152000000000 + n) for n in range(number)
    ]
    return [data for part in stream.encode(records, 1) for data in read_pack(write_pack(part)).events()]


def pack(parts: Sequence[bytes]) -> bytes:
    return write_pack(LaneEvents(0, len(parts), b"".join(sized(part) for part in parts)))


async def put(queue: Connection, data: bytes) -> None:
    await queue.publish(lane_subject("nats", 0), data, msg_id=str(next(NUMBERS)))


async def empty(queue: Connection) -> None:
    """Until everything is acked."""
    js = await queue.jetstream()
    async with asyncio.timeout(20):
        while (await js.stream_info(stream_name("nats"))).state.messages:
            await asyncio.sleep(0.05)


async def letters(queue: Connection, number: int) -> list[tuple[dict[str, str], bytes]]:
    found: list[tuple[dict[str, str], bytes]] = []
    async for page in read_stream(queue, dead_letter_subject("nats"), from_start=True):
        found += [(dict(message.headers or {}), message.data) for message in page]
        if len(found) >= number:
            break
    return found


async def test_an_event_larger_than_the_queue_takes_raw_is_kept_whole(queue: Connection) -> None:
    (small, large) = events(2)
    large += bytes_field(999, b"x" * (2 << 20))
    bus = Bus()
    await put(queue, pack([small, large]))
    async with publishing(queue, bus):
        await empty(queue)
    assert [event.data for event in bus.stored] == [small]
    ((headers, body),) = await letters(queue, 1)
    assert read_pack(body).events() == [large]
    assert headers["Tardis-Bytes"] == str(len(large))


async def test_what_cannot_be_kept_leaves_its_description(queue: Connection, caplog: pytest.LogCaptureFixture) -> None:
    (first, second) = events(2)
    first += bytes_field(999, os.urandom(MAX_PAYLOAD - 300 - len(first)))  # fits into the queue with no header to spare
    bus = Bus(refuse)
    await put(queue, pack([first]))
    await put(queue, pack([second]))
    async with publishing(queue, bus):
        await empty(queue)
    (headers, body), (_, following) = await letters(queue, 2)
    assert body == b""
    head = peek(first)
    assert headers["Tardis-Sha256"] == hashlib.sha256(first).hexdigest()
    assert headers["Tardis-Bytes"] == str(len(first))
    assert (headers["Tardis-Exchange"], headers["Tardis-Symbol"]) == ("bitmex", "XBTUSD")
    assert (headers["Tardis-Event-Id"], headers["Tardis-Stream-Id"]) == (head.event_id.hex(), head.stream_id)
    assert (headers["Tardis-Kind"], headers["Tardis-Reason"]) == ("refused", "not this one")
    assert read_pack(following).events() == [second]
    assert "queue is away" not in caplog.text


async def test_one_malformed_event_is_set_aside_and_the_others_are_published(queue: Connection) -> None:
    good = events(2)
    bus = Bus()
    await put(queue, pack([good[0], b"\xff\xff not an event", good[1]]))
    async with publishing(queue, bus):
        await empty(queue)
    assert [event.data for event in bus.stored] == good
    ((headers, body),) = await letters(queue, 1)
    assert headers["Tardis-Kind"] == "malformed"
    assert read_pack(body).events() == [b"\xff\xff not an event"]


async def give_back(queue: Connection, times: int) -> None:
    puller = Puller(queue, stream_name("nats"), lane_durable(0))
    for _ in range(times):
        delivery = await puller.next(2)
        assert delivery is not None
        await delivery.give_back()


async def test_a_pack_that_came_often_but_harms_nobody_is_published(queue: Connection) -> None:
    bus = Bus()
    await put(queue, pack(events(3)))
    await give_back(queue, 7)
    async with publishing(queue, bus):
        await empty(queue)
    assert len(bus.stored) == 3


async def test_a_pack_that_kills_its_reader_is_set_aside_undecoded(queue: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tardis_publisher.trial.COMMAND", (sys.executable, "-c", "import os; os.kill(os.getpid(), 9)"))
    bus = Bus()
    deadly, sound = pack(events(3)), pack(events(2))
    await put(queue, deadly)
    await put(queue, sound)
    await give_back(queue, 5)
    async with publishing(queue, bus):
        await empty(queue)
    assert len(bus.stored) == 2
    ((headers, body),) = await letters(queue, 1)
    assert headers["Tardis-Kind"] == "deadly pack"
    assert body == deadly


async def redeliver_soon(queue: Connection) -> None:
    js = await queue.jetstream()
    durable, subject = lane_durable(0), lane_subject("nats", 0)
    config = ConsumerConfig(durable_name=durable, filter_subject=subject, ack_wait=0.5, max_ack_pending=1)
    await js.add_consumer(stream_name("nats"), config)


async def test_without_room_for_dead_letters_the_pack_waits(queue: Connection, caplog: pytest.LogCaptureFixture) -> None:
    await redeliver_soon(queue)
    await queue.ask("STREAM.DELETE.BRONZE_DEAD_LETTERS", {})
    await put(queue, pack(events(1)))
    async with publishing(queue, Bus(refuse)):
        async with asyncio.timeout(10):
            while "could not be settled" not in caplog.text:
                await asyncio.sleep(0.02)
        await provision(queue, [], lanes=1, max_bytes=1 << 26)
        await empty(queue)
    assert len(await letters(queue, 1)) == 1
    assert "queue is away" not in caplog.text


async def test_the_pack_is_held_while_its_dead_letters_are_stored(queue: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    await redeliver_soon(queue)
    burying = asyncio.Event()

    async def slow(self: DeadLetters, event: EventHead, reason: str) -> None:
        burying.set()
        await asyncio.sleep(1.5)

    monkeypatch.setattr("tardis_publisher.lane.IN_PROGRESS_S", 0.1)
    monkeypatch.setattr(DeadLetters, "bury_event", slow)
    await put(queue, pack(events(1)))
    async with publishing(queue, Bus(refuse)):
        await asyncio.wait_for(burying.wait(), 10)
        assert await Puller(queue, stream_name("nats"), lane_durable(0)).next(1.0) is None
        await empty(queue)


def counted() -> dict[str, float]:
    names = ("received_total", "published_total", "given_back_total", "repeated_total", "in_flight")
    found = {name: REGISTRY.get_sample_value(f"tardis_publisher_events_{name}", {"backend": "nats"}) or 0 for name in names}
    for kind in ("refused", "malformed"):
        labels = {"backend": "nats", "reason": kind}
        found[kind] = REGISTRY.get_sample_value("tardis_publisher_events_dead_lettered_total", labels) or 0
    return found


async def test_the_counts_close(queue: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tardis_publisher.lane.GIVE_BACK_DELAY_S", 0.1)
    calm = asyncio.Event()

    def decide(event: EventHead) -> Outcome:
        if event.stream_seq == 1:
            return refuse(event)
        return DELIVERED if event.stream_seq == 2 or calm.is_set() else Outcome(Status.RETRY, "busy")

    before = counted()
    await put(queue, pack([*events(5), b"\xff\xff"]))
    async with publishing(queue, Bus(decide)):
        async with asyncio.timeout(10):
            while counted()["given_back_total"] == before["given_back_total"]:
                await asyncio.sleep(0.02)
        calm.set()
        await empty(queue)
    counts = {name: value - before[name] for name, value in counted().items()}
    assert counts["in_flight"] == 0
    assert counts["given_back_total"] >= 3
    assert counts["repeated_total"] == counts["received_total"] - 6
    ends = counts["published_total"] + counts["refused"] + counts["malformed"] + counts["given_back_total"]
    assert counts["received_total"] == ends
