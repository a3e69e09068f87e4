"""One event all the way through: what a client replays over HTTP arrives at the backend, whole, in order, once."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lakehouse.bronze.v1.normalized_event_pb2 import NormalizedEvent
from tardis_bronze import Ledger, Verdict, decode, to_record
from tardis_jetstream import Access, Connection, read_stream
from tardis_market import encode_ndjson
from tardis_market.times import parse_time, to_ns
from tardis_testing import Road, wait_until

Line = dict[str, Any]
BUSY_RATE = int(os.environ.get("TARDIS_FAULTS_RATE", "3000"))

# The simulator's data never changes between releases, so neither does the answer.
TWO_MINUTES = "7f1ce948a413c3e6879109367075d4b64319229ee85517b2b264bbce068ce64d"


@pytest.fixture(scope="module")
def road(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Road]:
    with Road(tmp_path_factory.mktemp("road")) as made:
        yield made


@pytest.fixture(scope="module")
def busy_road(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Road]:
    """`make faults` gives it twenty times the load."""
    with Road(tmp_path_factory.mktemp("busy"), rate=BUSY_RATE) as made:
        yield made


async def _read(url: str, enough: int) -> list[bytes]:
    """Everything the target holds, read by a connection of its own: at least `enough`, then until nothing more comes."""
    connection = Connection(Access(servers=(url,)), name="test")
    found: list[bytes] = []
    try:
        pages = read_stream(connection, "market.bronze", from_start=True)
        async with asyncio.timeout(90):
            while len(found) < enough:
                found += [message.data for message in await anext(pages)]
        try:
            while True:
                found += [message.data for message in await asyncio.wait_for(anext(pages), 2)]
        except TimeoutError:
            pass
    finally:
        await connection.close()
    return found


def published(road: Road, enough: int) -> list[NormalizedEvent]:
    return [decode(data) for data in asyncio.run(_read(road.nats.url, enough))]


def by_stream(events: list[NormalizedEvent]) -> dict[str, list[NormalizedEvent]]:
    streams: dict[str, list[NormalizedEvent]] = defaultdict(list)
    for event in events:
        streams[event.stream_id].append(event)
    return streams


def comparable(line: Line) -> Line:
    """Instants instead of their text: Bronze keeps the instant, not the number of its digits."""
    return {key: to_ns(parse_time(value)) if key.endswith("imestamp") else value for key, value in line.items()}


def by_symbol(lines: list[Line]) -> dict[str, list[Line]]:
    found: dict[str, list[Line]] = defaultdict(list)
    for line in lines:
        if line["type"] != "disconnect":
            found[line["symbol"]].append(comparable(line))
    return found


def as_lines(events: list[NormalizedEvent]) -> list[Line]:
    """Events as a client would have seen them, repeats dropped."""
    ledger = Ledger()
    fresh = [event for event in events if ledger.see(event) is not Verdict.REPEAT]
    return [json.loads(text) for text in encode_ndjson([to_record(event) for event in fresh]).splitlines()]


def whole_lines(body: bytes) -> list[Line]:
    return [json.loads(line) for line in body[: body.rfind(b"\n") + 1].splitlines()]


def test_every_event_arrives_in_order_and_equal_and_ids_are_stable_over_two_runs(road: Road) -> None:
    bodies = [b"".join(road.replay()) for _ in range(2)]
    assert bodies[0] == bodies[1]
    assert hashlib.sha256(bodies[0]).hexdigest() == TWO_MINUTES
    lines = whole_lines(bodies[0])
    assert len(lines) > 5000
    streams = list(by_stream(published(road, 2 * len(lines))).values())
    assert len(streams) == 2
    for events in streams:
        assert by_symbol(as_lines(events)) == by_symbol(lines)
        assert all(event.source == "test" and event.meta["transport"] == "http" for event in events)
    first, second = ({(e.symbol, e.stream_seq): e.event_id for e in events} for events in streams)
    assert first == second
    assert len(set(first.values())) == len(first)


def test_tail_prints_every_event_and_counts(road: Road) -> None:
    sofar = len(published(road, 0))
    lines = whole_lines(b"".join(road.replay(symbols=["xbtusd"])))
    wait_until(lambda: len(published(road, 0)) >= sofar + len(lines), within=60, what="all is published")
    target = ("--nats-servers", road.nats.url, "--nats-subject", "market.bronze")
    done = road.tool("tail", "nats", *target, "--from-start", "--idle-s", "3")
    events = [json.loads(line) for line in done.stdout.splitlines()]
    last = events[-1]["stream_id"]
    mine = [event for event in events if event["stream_id"] == last]
    assert [event["stream_seq"] for event in mine] == list(range(1, len(mine) + 1))
    assert len(mine) == len(lines)
    assert {event["symbol"] for event in mine} == {"XBTUSD"}
    assert "0 repeated, 0 reordered, 0 stale, 0 lost" in done.stderr


def test_a_request_may_keep_itself_out_of_the_bus(road: Road) -> None:
    before = by_stream(published(road, 0))
    assert len(whole_lines(b"".join(road.replay(publish=False)))) > 5000
    marker = whole_lines(b"".join(road.replay(to="2020-02-01T00:01")))  # spooled behind it, so published behind it
    events = published(road, sum(map(len, before.values())) + len(marker))
    assert len(by_stream(events)) == len(before) + 1


def test_disconnects_are_published_whether_or_not_the_client_sees_them(tmp_path: Path) -> None:
    with Road(tmp_path, rate=600, settings={"TM_SIMULATOR_DISCONNECT_EVERY": "2"}) as road:
        plain = whole_lines(b"".join(road.replay()))
        shown = whole_lines(b"".join(road.replay(withDisconnectMessages=True)))
        assert [line for line in shown if line["type"] != "disconnect"] == plain
        (disconnect,) = (line for line in shown if line["type"] == "disconnect")
        assert list(disconnect) == ["type", "exchange", "localTimestamp"]
        streams = list(by_stream(published(road, len(plain) + len(shown) + 1)).values())
        for events in streams:
            assert sum(event.WhichOneof("payload") == "disconnect" for event in events) == 1


@pytest.mark.parametrize("victim", ["publisher", "nats", "gateway", "worker", "forwarder"])
def test_kill_9_loses_nothing_that_the_client_has_seen(busy_road: Road, victim: str) -> None:
    """Killed in the middle of the replay, started again; whatever the client received is at the backend, in order."""
    road = busy_road
    before = by_stream(published(road, 0))
    body = bytearray()
    killed = False
    for piece in road.replay(to="2020-02-01T00:10"):
        body += piece
        if len(body) > 1_000_000 and not killed:
            killed = True
            road.kill(victim)
    assert killed
    received = by_symbol(whole_lines(bytes(body)))
    road.wait_for_gateway()
    enough = sum(map(len, before.values())) + sum(map(len, received.values()))
    after = by_stream(published(road, enough))
    ((_, events),) = ((stream, events) for stream, events in after.items() if stream not in before)
    ledger = Ledger()
    for event in events:
        ledger.see(event)
    report = ledger.report()
    assert (report.lost, report.reordered) == (0, 0), str(report)
    arrived = by_symbol(as_lines(events))
    for symbol, lines in received.items():
        assert arrived[symbol][: len(lines)] == lines
    if victim in ("gateway", "worker"):
        assert len(body) < 1700 * BUSY_RATE  # the client was cut off
    else:
        assert arrived == received


def test_sigterm_drains_everything_to_the_backend(tmp_path: Path) -> None:
    with Road(tmp_path) as road:
        lines = whole_lines(b"".join(road.replay()))
        assert road.gateway.stop() == 0
        assert not list((tmp_path / "spool" / "logs").iterdir())
        wait_until(lambda: len(published(road, 0)) >= len(lines), within=60, what="all is published")
        assert road.publisher.stop() == 0
        (events,) = by_stream(published(road, len(lines))).values()
        assert by_symbol(as_lines(events)) == by_symbol(lines)


def test_with_the_queue_away_clients_are_served_and_nothing_is_lost(tmp_path: Path) -> None:
    with Road(tmp_path) as road:
        road.nats.kill()
        lines = whole_lines(b"".join(road.replay()))
        assert len(lines) > 5000
        road.nats.start()
        (events,) = by_stream(published(road, len(lines))).values()
        assert by_symbol(as_lines(events)) == by_symbol(lines)
