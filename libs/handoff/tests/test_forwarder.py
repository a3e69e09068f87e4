"""The forwarder against a real queue: everything arrives, in order per lane, over restarts of either side."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tardis_bronze import LaneEvents, read_pack, write_pack
from tardis_bronze.wire import sized
from tardis_handoff import Forwarder, LanePack, Spool, SpoolLog, lane_durable, lane_subject, pack_lanes, provision, stream_name
from tardis_handoff.log import segment_path
from tardis_jetstream import Access, Connection, Puller, Refused
from tardis_testing import NatsServer

LANES = 3


def pack(lane: int, *names: str) -> LanePack:
    """Any bytes are events to the forwarder."""
    events = LaneEvents(lane, len(names), b"".join(sized(name.encode()) for name in names))
    return LanePack(lane, len(names), write_pack(events))


@asynccontextmanager
async def connection(server: NatsServer) -> AsyncIterator[Connection]:
    made = Connection(Access(servers=(server.url,)), name="test")
    try:
        yield made
    finally:
        await made.close()


@asynccontextmanager
async def running(spool: Spool, queue: Connection, *backends: str) -> AsyncIterator[Forwarder]:
    forwarder = Forwarder(spool, queue, backends or ("nats",))
    task = asyncio.create_task(forwarder.run())
    try:
        yield forwarder
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        os.close(forwarder._lock)


async def drained(queue: Connection, backend: str = "nats") -> dict[int, list[str]]:
    """What each lane of the stream holds, acked away."""
    found: dict[int, list[str]] = {}
    for lane in range(LANES):
        puller = Puller(queue, stream_name(backend), lane_durable(lane))
        while delivery := await puller.next(0.2):
            found.setdefault(lane, []).extend(event.decode() for event in read_pack(delivery.data).events())
            await delivery.ack()
    return found


def fill(log: SpoolLog, start: int, end: int) -> dict[int, list[str]]:
    names: dict[int, list[str]] = {}
    for number in range(start, end):
        packs = [pack(lane, f"{lane}-{number}-a", f"{lane}-{number}-b") for lane in range(LANES) if (number + lane) % 3]
        log.append(packs)
        for part in packs:
            names.setdefault(part.lane, []).extend(f"{part.lane}-{number}-{x}" for x in "ab")
    return names


async def test_every_pack_arrives_once_and_in_order(tmp_path: Path, nats_server: NatsServer) -> None:
    spool = Spool(tmp_path / "spool")
    log = spool.new_log("w0")
    async with connection(nats_server) as queue:
        await provision(queue, ["nats", "redis"], lanes=LANES, max_bytes=1 << 24)
        async with running(spool, queue, "nats", "redis") as forwarder:
            names = fill(log, 0, 200)
            assert await forwarder.drain(10)
            for backend in ("nats", "redis"):
                assert await drained(queue, backend) == names
            log.close()
            assert await forwarder.drain(10)
            forwarder.tidy()
            assert spool.log_ids() == []


async def test_a_restart_goes_on_where_the_cursor_stands(tmp_path: Path, nats_server: NatsServer) -> None:
    spool = Spool(tmp_path / "spool")
    log = spool.new_log("w0")
    async with connection(nats_server) as queue:
        await provision(queue, ["nats"], lanes=LANES, max_bytes=1 << 24)
        first = fill(log, 0, 50)
        async with running(spool, queue) as forwarder:
            assert await forwarder.drain(10)
            forwarder.tidy()
        assert await drained(queue) == first
        second = fill(log, 50, 80)
        async with running(spool, queue) as forwarder:
            assert await forwarder.drain(10)
        assert await drained(queue) == second
        log.close()


async def test_a_forwarder_that_died_before_saving_repeats_but_loses_nothing(tmp_path: Path, nats_server: NatsServer) -> None:
    spool = Spool(tmp_path / "spool")
    log = spool.new_log("w0")
    async with connection(nats_server) as queue:
        await provision(queue, ["nats"], lanes=LANES, max_bytes=1 << 24)
        names = fill(log, 0, 20)
        async with running(spool, queue) as forwarder:
            assert await forwarder.drain(10)
        (spool.cursors / "nats.json").unlink(missing_ok=True)
        more = fill(log, 20, 30)
        async with running(spool, queue) as forwarder:
            assert await forwarder.drain(10)
        found = await drained(queue)
        for lane in range(LANES):
            assert list(dict.fromkeys(found[lane])) == names[lane] + more[lane]
        log.close()


async def test_with_the_queue_away_packs_wait_on_disk(tmp_path: Path) -> None:
    with NatsServer(tmp_path / "nats") as server:
        spool = Spool(tmp_path / "spool")
        log = spool.new_log("w0")
        async with connection(server) as queue:
            await provision(queue, ["nats"], lanes=LANES, max_bytes=1 << 24)
            async with running(spool, queue) as forwarder:
                names = fill(log, 0, 5)
                assert await forwarder.drain(10)
                server.kill()
                for lane, more in fill(log, 5, 40).items():
                    names[lane] += more
                assert not await forwarder.drain(1)
                server.start()
                assert await forwarder.drain(20)
            found = await drained(queue)
            assert {lane: list(dict.fromkeys(events)) for lane, events in found.items()} == names
        log.close()


async def test_damage_costs_only_the_damaged_group(tmp_path: Path, nats_server: NatsServer) -> None:
    spool = Spool(tmp_path / "spool")
    log = spool.new_log("w0")
    for number in range(3):
        log.append([pack(0, f"event-{number}")])
    log.close()
    path = segment_path(log.folder, 1)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0xFF
    path.write_bytes(data)
    async with connection(nats_server) as queue:
        await provision(queue, ["nats"], lanes=LANES, max_bytes=1 << 24)
        async with running(spool, queue) as forwarder:
            assert await forwarder.drain(10)
        assert await drained(queue) == {0: ["event-0", "event-2"]}
    assert (spool.root / "damaged" / f"{log.folder.name}-00000001.seg").read_bytes() == bytes(data)


async def test_a_pack_that_is_none_stops_nobody(tmp_path: Path, nats_server: NatsServer) -> None:
    spool = Spool(tmp_path / "spool")
    log = spool.new_log("w0")
    for part in (pack(0, "first"), LanePack(0, 1, b"not a pack"), pack(0, "last")):
        log.append([part])
    log.close()
    async with connection(nats_server) as queue:
        await provision(queue, ["nats"], lanes=LANES, max_bytes=1 << 24)
        async with running(spool, queue) as forwarder:
            assert await forwarder.drain(10)
        puller = Puller(queue, stream_name("nats"), lane_durable(0))
        found = []
        while delivery := await puller.next(0.2):
            found.append(delivery.data)
            await delivery.ack()
        assert found == [pack(0, "first").data, b"not a pack", pack(0, "last").data]


async def test_a_pack_over_the_queues_limit_is_left_out_and_kept(tmp_path: Path, nats_server: NatsServer) -> None:
    spool = Spool(tmp_path / "spool")
    log = spool.new_log("w0")
    for part in (pack(0, "first"), LanePack(0, 7, os.urandom(2 << 20)), pack(0, "last")):
        log.append([part])
    log.close()
    async with connection(nats_server) as queue:
        await provision(queue, ["nats"], lanes=LANES, max_bytes=1 << 24)
        async with running(spool, queue) as forwarder:
            assert await forwarder.drain(10)
        assert await drained(queue) == {0: ["first", "last"]}
    assert list((spool.root / "damaged").iterdir())


async def test_small_limits_of_the_queue_only_make_smaller_messages(tmp_path: Path) -> None:
    config = tmp_path / "nats.conf"
    config.write_text("max_payload: 4KB\n")
    spool = Spool(tmp_path / "spool")
    log = spool.new_log("w0")
    names = [os.urandom(500).hex() for _ in range(20)]
    for name in names:
        log.append([pack(0, name)])
    log.close()
    with NatsServer(tmp_path / "nats", "-c", str(config)) as server:
        async with connection(server) as queue:
            await provision(queue, ["nats"], lanes=LANES, max_bytes=1 << 24)
            async with running(spool, queue) as forwarder:
                assert await forwarder.drain(10)
            assert await drained(queue) == {0: names}


async def test_a_log_of_a_newer_program_is_kept(tmp_path: Path, nats_server: NatsServer) -> None:
    spool = Spool(tmp_path / "spool")
    log = spool.new_log("w0")
    log.append([pack(0, "event")])
    log.close()
    path = segment_path(log.folder, 1)
    data = bytearray(path.read_bytes())
    data[4] = 9
    path.write_bytes(data)
    async with connection(nats_server) as queue:
        await provision(queue, ["nats"], lanes=LANES, max_bytes=1 << 24)
        async with running(spool, queue) as forwarder:
            assert not await forwarder.drain(0.5)
            forwarder.tidy()
    assert path.read_bytes() == data


def test_a_large_lane_is_cut_into_packs_that_fit() -> None:
    names = [f"{number}-" + "x" * 100_000 for number in range(20)]
    lane = LaneEvents(3, len(names), b"".join(sized(name.encode()) for name in names))
    packs = pack_lanes([lane, LaneEvents(1, 1, sized(b"small"))])
    assert [part.lane for part in packs] == [3, 3, 3, 3, 1]
    assert [event.decode() for part in packs[:-1] for event in read_pack(part.data).events()] == names
    assert sum(part.events for part in packs) == 21


async def test_several_packs_of_a_lane_in_one_group_all_arrive(tmp_path: Path, nats_server: NatsServer) -> None:
    spool = Spool(tmp_path / "spool")
    log = spool.new_log("w0")
    log.append([LanePack(0, 1, pack(0, os.urandom(350_000).hex()).data) for _ in range(4)])
    log.close()
    async with connection(nats_server) as queue:
        await provision(queue, ["nats"], lanes=LANES, max_bytes=1 << 24)
        async with running(spool, queue) as forwarder:
            assert await forwarder.drain(10)
        assert len((await drained(queue))[0]) == 4


async def test_provision_is_idempotent_and_refuses_a_foreign_stream(nats_server: NatsServer) -> None:
    async with connection(nats_server) as queue:
        for max_bytes in (1 << 24, 1 << 24, 1 << 25):
            await provision(queue, ["nats"], lanes=LANES, max_bytes=max_bytes)
        js = await queue.jetstream()
        info = await js.stream_info(stream_name("nats"))
        assert info.config.max_bytes == 1 << 25
        assert info.config.discard == "new"
        consumer = await js.consumer_info(stream_name("nats"), lane_durable(1))
        assert consumer.config.max_ack_pending == 1
        assert consumer.config.filter_subject == lane_subject("nats", 1)
        await js.add_stream(name=stream_name("redis"), subjects=["bronze.redis.*"])
        with pytest.raises(Refused, match="other settings"):
            await provision(queue, ["redis"], lanes=LANES, max_bytes=1 << 24)
