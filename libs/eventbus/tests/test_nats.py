"""The NATS backend against a real server."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from tardis_bronze import EventHead
from tardis_eventbus import BackendError, Status
from tardis_eventbus.backends.nats import NatsBackend
from tardis_jetstream import Access, Connection, read_stream
from tardis_settings import NatsOptions
from tardis_testing import NatsServer, free_port


def event(symbol: str, number: int, data: bytes = b"") -> EventHead:
    data = data or f"{symbol}-{number}".encode()
    return EventHead("test", "bitmex", symbol, 2, 100, number.to_bytes(16, "big"), "s1", number, data)


@asynccontextmanager
async def backend(server: NatsServer, **options: Any) -> AsyncIterator[NatsBackend]:
    made = NatsBackend(NatsOptions(**{"servers": (server.url,), "subject": "out", "stream": "OUT"} | options))
    await made.open()
    try:
        yield made
    finally:
        await made.close()


async def stored(server: NatsServer, count: int) -> list[bytes]:
    """Read back by a connection of its own."""
    connection = Connection(Access(servers=(server.url,)), name="reader")
    found: list[bytes] = []
    try:
        async for page in read_stream(connection, "out", from_start=True):
            found += [message.data for message in page]
            if len(found) >= count:
                return found
    finally:
        await connection.close()
    return found


async def make_stream(server: NatsServer, **config: Any) -> None:
    connection = Connection(Access(servers=(server.url,)), name="maker")
    await (await connection.jetstream()).add_stream(name="PLAIN", subjects=["out"], **config)
    await connection.close()


async def test_a_batch_is_stored_in_order_and_a_repeat_only_once(nats_server: NatsServer) -> None:
    events = [event("AB"[n % 2], n) for n in range(1, 401)]
    async with backend(nats_server) as nats:
        assert {outcome.status for outcome in await nats.publish(events)} == {Status.DELIVERED}
        again = await nats.publish([*events[300:], event("A", 401)])
        assert {outcome.status for outcome in again} == {Status.DELIVERED}
    assert await stored(nats_server, 401) == [e.data for e in events] + [b"A-401"]


async def test_a_stream_without_atomic_batches_keeps_the_order_of_each_key(nats_server: NatsServer) -> None:
    await make_stream(nats_server)
    events = [event("ABC"[n % 3], n) for n in range(1, 301)]
    async with backend(nats_server, stream=None) as nats:
        assert {outcome.status for outcome in await nats.publish(events)} == {Status.DELIVERED}
    found = await stored(nats_server, 300)
    for symbol in "ABC":
        assert [data for data in found if data.startswith(symbol.encode())] == [e.data for e in events if e.symbol == symbol]


async def test_several_lanes_publish_at_the_same_time(nats_server: NatsServer) -> None:
    async with backend(nats_server) as nats:
        lanes = [[event(symbol, n) for n in range(1 + 200 * k, 201 + 200 * k)] for k, symbol in enumerate("ABCD")]
        await asyncio.gather(*(nats.publish(lane) for lane in lanes))
    found = await stored(nats_server, 800)
    for lane in lanes:
        assert [data for data in found if data[:1] == lane[0].data[:1]] == [e.data for e in lane]


async def test_a_killed_server_means_retry_and_later_everything_is_there_once(nats_server: NatsServer) -> None:
    first, second = [event("A", n) for n in range(1, 100)], [event("A", n) for n in range(100, 200)]
    async with backend(nats_server) as nats:
        await nats.publish(first)
        nats_server.kill()
        outcomes = await nats.publish(second)
        assert {outcome.status for outcome in outcomes} == {Status.RETRY}
        assert outcomes[0].reason
        nats_server.start()
        assert {outcome.status for outcome in await nats.publish(second)} == {Status.DELIVERED}
    assert await stored(nats_server, 199) == [e.data for e in first + second]


async def test_limits_come_from_the_server(tmp_path: Path) -> None:
    config = tmp_path / "nats.conf"
    config.write_text("max_payload: 64KB\n")
    with NatsServer(tmp_path / "nats", "-c", str(config)) as server:
        nats = NatsBackend(NatsOptions(servers=(server.url,), subject="out", stream="OUT"))
        limits = await nats.open()
        assert limits.event_bytes < 64 * 1024
        await nats.close()


async def test_what_the_stream_does_not_take_is_refused(nats_server: NatsServer) -> None:
    await make_stream(nats_server, max_msg_size=1000)
    async with backend(nats_server, stream=None) as nats:
        outcomes = await nats.publish([event("A", 1), event("B", 2, b"x" * 2000)])
    assert [outcome.status for outcome in outcomes] == [Status.DELIVERED, Status.REFUSED]


async def test_a_missing_stream_a_dead_port_and_wrong_credentials_say_so_in_time(nats_server: NatsServer, tmp_path: Path) -> None:
    started = time.monotonic()
    with pytest.raises(BackendError, match="nats-stream"):
        await NatsBackend(NatsOptions(servers=(nats_server.url,), subject="out")).open()
    with pytest.raises(BackendError, match="cannot connect"):
        await NatsBackend(NatsOptions(servers=(f"nats://127.0.0.1:{free_port()}",), subject="out")).open()
    with NatsServer(tmp_path / "locked", "--user", "ann", "--pass", "pw") as locked:
        wrong = NatsOptions(servers=(locked.url,), subject="out", user="ann", password=SecretStr("wrong"))
        with pytest.raises(BackendError, match="credentials"):
            await NatsBackend(wrong).open()
    assert time.monotonic() - started < 20
