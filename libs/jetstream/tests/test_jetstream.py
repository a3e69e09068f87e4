"""The connection against a real server: every wait is bounded, every loss is seen."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from nats.js.api import ConsumerConfig

from tardis_jetstream import (
    Access,
    Connection,
    Puller,
    Refused,
    TooLarge,
    Unavailable,
    access,
    find_stream,
    read_stream,
)
from tardis_testing import NatsServer, free_port


@pytest.fixture
async def connection(nats_server: NatsServer) -> AsyncIterator[Connection]:
    made = Connection(Access(servers=(nats_server.url,)), name="test")
    js = await made.jetstream()
    await js.add_stream(name="S", subjects=["s.*"])
    await js.add_consumer("S", ConsumerConfig(durable_name="d", ack_wait=1, max_ack_pending=1))
    yield made
    await made.close()


async def test_publish_tells_a_repeat(connection: Connection) -> None:
    assert await connection.publish("s.1", b"x", msg_id="one") is False
    assert await connection.publish("s.1", b"x", msg_id="one", headers={"A": "b"}) is True


async def test_a_subject_without_stream_is_worth_another_try(connection: Connection) -> None:
    with pytest.raises(Unavailable, match="no stream"):
        await connection.publish("nobody", b"x", msg_id="1")


@pytest.mark.parametrize("size", [2 << 20, 1 << 20, (1 << 20) - 50])
async def test_a_message_over_the_limit_is_too_large_and_costs_no_connection(connection: Connection, size: int) -> None:
    client = await connection.client()
    with pytest.raises(TooLarge, match="max_payload"):
        await connection.publish("s.1", b"x" * size, msg_id="1", headers={"Reason": "its headers count too"})
    assert await connection.client() is client
    assert await connection.publish("s.1", b"x" * ((1 << 20) - 100), msg_id="2") is False


async def test_a_dead_port_fails_in_time() -> None:
    connection = Connection(Access(servers=(f"nats://127.0.0.1:{free_port()}",)), name="test")
    started = time.monotonic()
    with pytest.raises(Unavailable, match="cannot connect"):
        await connection.client()
    assert time.monotonic() - started < 7
    assert not connection.connected


async def test_wrong_credentials_are_refused_without_showing_them(tmp_path: Path) -> None:
    with NatsServer(tmp_path / "nats", "--user", "ann", "--pass", "right") as server:
        wrong = Access(servers=(server.url,), user="ann", password="wrong-secret")
        assert "wrong-secret" not in repr(wrong)
        with pytest.raises(Refused, match="credentials") as refused:
            await Connection(wrong, name="test").client()
        assert "wrong-secret" not in str(refused.value)
        right = Connection(Access(servers=(server.url,), user="ann", password="right"), name="test")
        assert (await right.client()).is_connected
        await right.close()


async def test_a_killed_server_is_seen_at_once_and_found_again(nats_server: NatsServer, connection: Connection) -> None:
    waiting = asyncio.create_task(connection.guarded(asyncio.sleep(60), 60))
    await asyncio.sleep(0.05)
    nats_server.kill()
    with pytest.raises(Unavailable, match="lost"):
        await asyncio.wait_for(waiting, 5)
    with pytest.raises(Unavailable):
        await connection.publish("s.1", b"x", msg_id="1")
    nats_server.start()
    assert await connection.publish("s.1", b"x", msg_id="2") is False


async def test_no_answer_is_bounded(connection: Connection) -> None:
    with pytest.raises(Unavailable, match="does not answer"):
        await connection.guarded(asyncio.sleep(60), 0.1)


async def test_pull_ack_give_back(connection: Connection) -> None:
    puller = Puller(connection, "S", "d")
    assert await puller.next(0.2) is None
    await connection.publish("s.1", b"first", msg_id="1")
    await connection.publish("s.1", b"second", msg_id="2")
    delivery = await puller.next(1)
    assert delivery is not None
    assert (delivery.data, delivery.deliveries, delivery.pending) == (b"first", 1, 1)
    assert await puller.next(0.2) is None  # one under way at a time
    await delivery.in_progress()
    await delivery.give_back()
    again = await puller.next(1)
    assert again is not None
    assert (again.data, again.deliveries, again.sequence) == (b"first", 2, 1)
    await again.ack()
    following = await puller.next(1)
    assert following is not None
    assert following.data == b"second"


async def test_a_pull_goes_on_after_a_restart(nats_server: NatsServer, connection: Connection) -> None:
    puller = Puller(connection, "S", "d")
    assert await puller.next(0.1) is None
    nats_server.kill()
    nats_server.start()
    try:
        await puller.next(0.1)
    except Unavailable:
        pass
    await connection.publish("s.1", b"after", msg_id="1")
    delivery = await puller.next(1)
    assert delivery is not None
    assert delivery.data == b"after"


async def test_a_missing_consumer_is_refused(connection: Connection) -> None:
    with pytest.raises(Refused, match="missing"):
        await Puller(connection, "S", "nobody").next(0.5)


def test_access_from_settings() -> None:
    secret = SimpleNamespace(get_secret_value=lambda: "hidden")
    login = SimpleNamespace(user="ann", password=secret, token=None, creds=Path("a.creds"))
    found = access(["nats://a", "nats://b"], login)
    assert found.connect_arguments() == {
        "servers": ["nats://a", "nats://b"],
        "user": "ann",
        "password": "hidden",
        "user_credentials": "a.creds",
    }


async def test_a_stream_is_read_once_and_in_order_over_a_restart(nats_server: NatsServer, connection: Connection) -> None:
    for number in range(1200):
        await connection.publish("s.1", str(number).encode(), msg_id=str(number))
    found: list[int] = []
    restarted = False
    async for page in read_stream(connection, "s.1", from_start=True):
        found += [int(message.data) for message in page]
        if len(found) >= 500 and not restarted:
            restarted = True
            nats_server.kill()
            nats_server.start()
        if len(found) >= 1200:
            break
    assert restarted
    assert found == list(range(1200))


async def test_a_reader_that_comes_late_sees_only_what_follows(connection: Connection) -> None:
    await connection.publish("s.1", b"before", msg_id="1")
    reader = read_stream(connection, "s.1", from_start=False)
    following = asyncio.ensure_future(anext(reader))
    await asyncio.sleep(0.3)
    await connection.publish("s.1", b"after", msg_id="2")
    page = await asyncio.wait_for(following, 5)
    assert [message.data for message in page] == [b"after"]


async def test_a_late_reader_misses_nothing_when_its_consumer_is_lost_before_the_first_message(
    nats_server: NatsServer, connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tardis_jetstream.reading.AWAY_S", 2.0)  # longer than the restart and the publish take
    await connection.publish("s.1", b"before", msg_id="1")
    following = asyncio.ensure_future(anext(read_stream(connection, "s.1", from_start=False)))
    await asyncio.sleep(0.3)
    nats_server.kill()
    nats_server.start()
    writer = Connection(Access(servers=(nats_server.url,)), name="writer")
    await writer.publish("s.1", b"meanwhile", msg_id="2")
    await writer.close()
    page = await asyncio.wait_for(following, 10)
    assert [message.data for message in page] == [b"meanwhile"]


async def test_a_subject_that_no_stream_takes_cannot_be_read(connection: Connection) -> None:
    with pytest.raises(Refused):
        await find_stream(connection, "nobody")
