"""Making a connection: one attempt for all who wait, and no credentials in anything that is written."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tardis_jetstream import Access, Connection, JetStreamError, Refused, Unavailable
from tardis_testing import NatsServer, free_port


@asynccontextmanager
async def silent_server(greeted: list[int]) -> AsyncIterator[Connection]:
    """It takes connections and never says a word."""
    writers: list[asyncio.StreamWriter] = []

    async def accept(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        greeted.append(len(greeted))
        writers.append(writer)

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    connection = Connection(Access(servers=(f"nats://127.0.0.1:{port}",)), name="test")
    try:
        yield connection
    finally:
        await connection.close()
        for writer in writers:
            writer.close()
        server.close()
        await server.wait_closed()


async def test_all_who_wait_share_one_attempt_and_its_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tardis_jetstream.connection.CONNECT_TIMEOUT_S", 0.5)
    greeted: list[int] = []
    async with silent_server(greeted) as connection:
        with pytest.raises(Unavailable):
            await connection.client()
        alone = len(greeted)
        ends = await asyncio.gather(*(connection.client() for _ in range(8)), return_exceptions=True)
        assert [type(end) for end in ends] == [Unavailable] * 8
        assert len(greeted) == 2 * alone


async def test_one_who_stops_waiting_leaves_the_attempt_to_the_others(nats_server: NatsServer) -> None:
    connection = Connection(Access(servers=(nats_server.url,)), name="test")
    first, second = asyncio.create_task(connection.client()), asyncio.create_task(connection.client())
    await asyncio.sleep(0)
    first.cancel()
    assert (await second).is_connected
    assert first.cancelled()
    await connection.close()


async def test_closing_ends_the_attempt_for_those_who_wait() -> None:
    async with silent_server([]) as connection:
        waiting = asyncio.create_task(connection.client())
        await asyncio.sleep(0.1)
        await connection.close()
        with pytest.raises(Unavailable, match="closed"):
            await asyncio.wait_for(waiting, 5)
        assert not connection.connected


async def test_credentials_in_an_address_are_never_written(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    errors: list[JetStreamError] = []
    with NatsServer(tmp_path / "nats", "--user", "ann", "--pass", "s3cret") as server:
        for login, port in (("ann:s3cret", server.port), ("ann:wrong-s3cret", server.port), ("ann:s3cret", free_port())):
            access = Access(servers=(f"nats://{login}@127.0.0.1:{port}",))
            assert "s3cret" not in repr(access)
            connection = Connection(access, name="test")
            try:
                await connection.client()
            except JetStreamError as error:
                errors.append(error)
            await connection.close()
    assert [type(error) for error in errors] == [Refused, Unavailable]
    written = [str(vars(record)) for record in caplog.records] + [str(error) for error in errors]
    assert any(f"127.0.0.1:{server.port}" in text for text in written)
    assert not any("s3cret" in text for text in written)
