"""The target stream of the NATS backend: one that fits, one that goes away, and one that does not take everything."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tardis_bronze import EventHead
from tardis_eventbus import BackendError, Status
from tardis_eventbus.backends.nats import NatsBackend
from tardis_eventbus.backends.nats_stream import covers
from tardis_jetstream import Access, Connection, read_stream
from tardis_settings import NatsOptions
from tardis_testing import NatsServer


def event(symbol: str, number: int, data: bytes = b"") -> EventHead:
    data = data or f"{symbol}-{number}".encode()
    return EventHead("test", "bitmex", symbol, 2, 100, number.to_bytes(16, "big"), "s1", number, data)


def options(server: NatsServer, **more: Any) -> NatsOptions:
    return NatsOptions(**{"servers": (server.url,), "subject": "market.out", "stream": "OUT"} | more)


@pytest.fixture
async def admin(nats_server: NatsServer) -> AsyncIterator[Connection]:
    connection = Connection(Access(servers=(nats_server.url,)), name="admin")
    yield connection
    await connection.close()


async def create(admin: Connection, *, atomic: bool, **config: Any) -> None:
    wanted = {"name": "OUT", "subjects": ["market.out"], "allow_atomic": atomic, "duplicate_window": 120_000_000_000} | config
    await admin.ask("STREAM.CREATE.OUT", wanted)


async def first_messages(admin: Connection, count: int) -> list[Any]:
    found: list[Any] = []
    async for page in read_stream(admin, "market.out", from_start=True):
        found += page
        if len(found) >= count:
            break
    return found


@pytest.mark.parametrize("atomic", [True, False])
async def test_without_its_stream_nothing_is_refused_and_later_all_is_stored(
    nats_server: NatsServer, admin: Connection, atomic: bool
) -> None:
    await create(admin, atomic=atomic)
    backend = NatsBackend(options(nats_server))
    await backend.open()
    events = [event("AB"[n % 2], n) for n in range(1, 21)]
    await admin.ask("STREAM.DELETE.OUT", {})
    for batch in (events, events[:1]):
        outcomes = await backend.publish(batch)
        assert {outcome.status for outcome in outcomes} == {Status.RETRY}
        assert outcomes[0].reason == "no stream takes this subject"
    await create(admin, atomic=atomic)
    assert {outcome.status for outcome in await backend.publish(events)} == {Status.DELIVERED}
    await backend.close()


@pytest.mark.parametrize("size", [2000, 2 << 20])
async def test_one_event_that_is_not_taken_does_not_spoil_its_batch(nats_server: NatsServer, admin: Connection, size: int) -> None:
    await create(admin, atomic=True, max_msg_size=1000)
    backend = NatsBackend(options(nats_server))
    await backend.open()
    events = [event("A", 1), event("A", 2, b"x" * size), event("A", 3), event("B", 4)]
    outcomes = await backend.publish(events)
    assert [outcome.status.value for outcome in outcomes] == ["delivered", "refused", "delivered", "delivered"]
    stored = [message.data for message in await first_messages(admin, 3)]
    assert [data for data in stored if data.startswith(b"A")] == [b"A-1", b"A-3"]
    await backend.close()


async def test_a_full_stream_means_retry_for_all(nats_server: NatsServer, admin: Connection) -> None:
    await create(admin, atomic=True, max_msgs=1, discard="new")
    backend = NatsBackend(options(nats_server))
    await backend.open()
    await backend.publish([event("A", 1)])
    assert {outcome.status for outcome in await backend.publish([event("A", 2), event("A", 3)])} == {Status.RETRY}
    await backend.close()


async def test_batches_of_two_publishers_never_share_an_id(nats_server: NatsServer, admin: Connection) -> None:
    backends = [NatsBackend(options(nats_server)) for _ in range(2)]
    for number, backend in enumerate(backends):
        await backend.open()
        await backend.publish([event("A", 2 * number + 1), event("A", 2 * number + 2)])
        await backend.close()
    ids = [(message.headers or {})["Nats-Batch-Id"] for message in await first_messages(admin, 4)]
    assert len(set(ids)) == 2
    assert all(re.fullmatch(r"[0-9a-f]{32}-1", ident) for ident in ids)


async def test_an_existing_stream_must_take_the_subject(nats_server: NatsServer, admin: Connection) -> None:
    await create(admin, atomic=True, subjects=["other.>", "market.*.deep"])
    with pytest.raises(BackendError, match=r"nats-stream 'OUT' takes other\.>, market\.\*\.deep.*nats-subject 'market\.out'"):
        await NatsBackend(options(nats_server)).open()
    await admin.ask("STREAM.UPDATE.OUT", {"name": "OUT", "subjects": ["market.*"], "allow_atomic": True})
    backend = NatsBackend(options(nats_server))
    await backend.open()
    await backend.close()


async def test_a_server_without_jetstream_cannot_be_opened(tmp_path: Path) -> None:
    with NatsServer(tmp_path / "nats", "-js=false") as server:
        for stream in ("OUT", None):
            with pytest.raises(BackendError, match="JetStream is not enabled"):
                await NatsBackend(options(server, stream=stream)).open()


@pytest.mark.parametrize(
    ("pattern", "subject", "taken"),
    [
        ("a.b", "a.b", True),
        ("a.b", "a.c", False),
        ("a.*", "a.b", True),
        ("a.*", "a", False),
        ("a.*", "a.b.c", False),
        ("*.b", "a.b", True),
        ("a.>", "a.b.c", True),
        ("a.>", "a", False),
        (">", "a", True),
        ("*.*.>", "a.b", False),
        ("*.*.>", "a.b.c", True),
    ],
)
def test_wildcards_of_a_stream(pattern: str, subject: str, taken: bool) -> None:
    assert covers(pattern, subject) is taken


@given(st.lists(st.text("ab", min_size=1), min_size=1, max_size=5), st.data())
def test_a_subject_is_covered_by_every_pattern_made_from_it(tokens: list[str], data: st.DataObject) -> None:
    pattern = [data.draw(st.sampled_from([token, "*"])) for token in tokens]
    cut = data.draw(st.integers(0, len(tokens) - 1))
    subject = ".".join(tokens)
    assert covers(".".join(pattern), subject)
    assert covers(".".join([*pattern[:cut], ">"]), subject)
    assert not covers(".".join([*pattern, "*"]), subject)
    assert not covers(".".join([*pattern, ">"]), subject)
