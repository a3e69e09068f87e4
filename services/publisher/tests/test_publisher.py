"""A publisher between a real queue and a bus that behaves as told: acks follow the bus, poison goes aside."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

import pytest

from tardis_bronze import BronzeStream, EventHead, peek, read_pack, write_pack
from tardis_eventbus import DELIVERED, BackendError, Limits, Outcome, RetryPolicy, Status
from tardis_handoff import dead_letter_subject, lane_subject, provision
from tardis_jetstream import Access, Connection, read_stream
from tardis_market.records import Record, Trade
from tardis_publisher import Publisher
from tardis_publisher.main import main
from tardis_testing import NatsServer

LANES = 2


class Bus:
    name = "nats"

    def __init__(self, decide: Callable[[EventHead], Outcome] = lambda event: DELIVERED) -> None:
        self.stored: list[EventHead] = []
        self.opened = self.closed = 0
        self.broken_opens = 0
        self._decide = decide

    async def open(self) -> Limits:
        self.opened += 1
        if self.opened <= self.broken_opens:
            raise BackendError("not there yet")
        return Limits(event_bytes=1 << 20, batch_events=100)

    async def publish(self, events: Sequence[EventHead]) -> list[Outcome]:
        outcomes = [self._decide(event) for event in events]
        self.stored += [event for event, outcome in zip(events, outcomes, strict=True) if outcome.status is Status.DELIVERED]
        return outcomes

    async def close(self) -> None:
        self.closed += 1


@asynccontextmanager
async def queue(server: NatsServer) -> AsyncIterator[Connection]:
    made = Connection(Access(servers=(server.url,)), name="test")
    await provision(made, ["nats"], lanes=LANES, max_bytes=1 << 24)
    yield made
    await made.close()


@asynccontextmanager
async def publishing(server: NatsServer, bus: Bus, **options: float) -> AsyncIterator[asyncio.Event]:
    stop = asyncio.Event()
    own = Connection(Access(servers=(server.url,)), name="publisher")
    policy = RetryPolicy(max_attempts=2, max_elapsed_s=1)
    publisher = Publisher(bus, own, lanes=LANES, policy=policy, max_batch=100, drain_timeout_s=options.get("drain_timeout_s", 5))
    task = asyncio.create_task(publisher.run(stop))
    try:
        yield stop
    finally:
        stop.set()
        await asyncio.wait_for(task, 20)


def packs(first: int, count: int, symbol: str = "XBTUSD") -> list[tuple[int, bytes]]:
    stream = BronzeStream(source="t", origin=2, stream_id=f"{symbol}-{first}", meta={}, lanes=LANES)
    records: list[Record] = [
        Trade("bitmex", symbol, str(n), "1.5", "2", "buy", 1580515200000, 15805152000000000 + n)
        for n in range(first, first + count)
    ]
    return [(part.lane, write_pack(part)) for part in stream.encode(records, 1)]


async def put(connection: Connection, items: list[tuple[int, bytes]]) -> None:
    for lane, data in items:
        await connection.publish(lane_subject("nats", lane), data, msg_id=f"{lane}-{hash(data)}")


async def left(connection: Connection) -> int:
    js = await connection.jetstream()
    return (await js.stream_info("BRONZE_NATS")).state.messages


async def until(true: Callable[[], bool], within: float = 20) -> None:
    async with asyncio.timeout(within):
        while not true():
            await asyncio.sleep(0.02)


async def dead_letters(connection: Connection, count: int) -> list[tuple[dict[str, str], bytes]]:
    found: list[tuple[dict[str, str], bytes]] = []
    async for page in read_stream(connection, dead_letter_subject("nats"), from_start=True):
        found += [(dict(message.headers or {}), message.data) for message in page]
        if len(found) >= count:
            break
    return found


async def test_everything_is_published_and_acked(nats_server: NatsServer) -> None:
    bus = Bus()
    async with queue(nats_server) as connection:
        await put(connection, packs(1, 50) + packs(1, 30, "ETHUSD"))
        async with publishing(nats_server, bus):
            await until(lambda: len(bus.stored) == 80)
        assert await left(connection) == 0
        assert [event.stream_seq for event in bus.stored if event.symbol == "XBTUSD"] == list(range(1, 51))
        assert bus.closed == 1


async def test_a_refused_event_goes_to_the_dead_letters_and_the_lane_goes_on(nats_server: NatsServer) -> None:
    bus = Bus(lambda event: Outcome(Status.REFUSED, "too\r\nodd") if event.stream_seq == 3 else DELIVERED)
    async with queue(nats_server) as connection:
        await put(connection, packs(1, 5))
        async with publishing(nats_server, bus):
            await until(lambda: len(bus.stored) == 4)
            ((headers, data),) = await dead_letters(connection, 1)
        assert (headers["Tardis-Kind"], headers["Tardis-Reason"]) == ("refused", "too odd")
        assert peek(*read_pack(data).events()).stream_seq == 3
        assert await left(connection) == 0


async def test_a_damaged_pack_goes_aside_undecoded(nats_server: NatsServer) -> None:
    bus = Bus()
    async with queue(nats_server) as connection:
        ((lane, data),) = packs(1, 5)
        damaged = data[:-5] + bytes([data[-5] ^ 1]) + data[-4:]
        await put(connection, [(lane, damaged), (lane, b"foreign"), (lane, data)])
        async with publishing(nats_server, bus):
            await until(lambda: len(bus.stored) == 5)
            letters = await dead_letters(connection, 2)
        assert {headers["Tardis-Kind"] for headers, _ in letters} == {"damaged pack"}
        assert [body for _, body in letters] == [damaged, b"foreign"]
        assert await left(connection) == 0


async def test_what_the_bus_does_not_take_is_given_back_and_comes_again(nats_server: NatsServer) -> None:
    calm = asyncio.Event()
    bus = Bus(lambda event: DELIVERED if calm.is_set() else Outcome(Status.RETRY, "busy"))
    async with queue(nats_server) as connection:
        await put(connection, packs(1, 5))
        async with publishing(nats_server, bus):
            await asyncio.sleep(1)
            assert await left(connection) == 1
            calm.set()
            await until(lambda: len(bus.stored) == 5)
        assert await left(connection) == 0


async def test_the_bus_may_come_up_later(nats_server: NatsServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tardis_publisher.publisher.OPEN_RETRY_S", 0.05)
    bus = Bus()
    bus.broken_opens = 3
    async with queue(nats_server) as connection:
        await put(connection, packs(1, 5))
        async with publishing(nats_server, bus):
            await until(lambda: len(bus.stored) == 5)
        assert bus.opened == 4


async def test_on_stop_what_cannot_be_finished_is_given_back_at_once(nats_server: NatsServer) -> None:
    waiting = asyncio.Event()

    class Hung(Bus):
        async def publish(self, events: Sequence[EventHead]) -> list[Outcome]:
            waiting.set()
            await asyncio.sleep(3600)
            return []

    async with queue(nats_server) as connection:
        await put(connection, packs(1, 5))
        async with publishing(nats_server, Hung(), drain_timeout_s=0.2):
            await asyncio.wait_for(waiting.wait(), 10)
        bus = Bus()
        async with publishing(nats_server, bus):
            await until(lambda: len(bus.stored) == 5, within=4)  # sooner than ack_wait would allow


async def test_a_restarted_queue_is_found_again(nats_server: NatsServer) -> None:
    bus = Bus()
    async with queue(nats_server) as connection, publishing(nats_server, bus):
        await put(connection, packs(1, 5))
        await until(lambda: len(bus.stored) == 5)
        nats_server.kill()
        await asyncio.sleep(0.5)
        nats_server.start()
        await put(connection, packs(6, 5))
        await until(lambda: len(bus.stored) == 10)


@pytest.mark.parametrize(
    ("words", "code", "named"),
    [
        ("", 2, "backend: missing; allowed: nats\n"),
        ("carrier-pigeon", 2, "backend: carrier-pigeon; allowed: nats\n"),
        ("nats", 2, "handoff-url: missing"),
        ("nats --handoff-url nats://127.0.0.1:1", 2, "nats-servers and nats-subject: missing"),
        ("nats --handoff-url nats://127.0.0.1:1 --nats-servers nats://127.0.0.1:1", 2, "nats-subject"),
        ("nats --publisher-port 65536", 2, "publisher-port"),
        ("nats --nope", 1, "nope"),
    ],
)
def test_the_program_refuses_half_a_configuration(words: str, code: int, named: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(words.split())
    assert ended.value.code == code
    assert named in capsys.readouterr().err
