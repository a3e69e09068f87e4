"""The tools as a user types them."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys

import pytest
from google.protobuf.json_format import MessageToDict

from lakehouse.bronze.v1 import market_pb2
from lakehouse.bronze.v1.normalized_event_pb2 import NormalizedEvent
from tardis_bronze import BronzeStream, decode, read_pack, write_pack
from tardis_cli.show import as_json, for_terminal
from tardis_jetstream import Access, Connection
from tardis_market.records import BookChange, BookTicker, Disconnect, Record, Trade
from tardis_testing import NatsServer, free_port


def run(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tardis_cli", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def events(*records: Record) -> list[bytes]:
    stream = BronzeStream(source="t", origin=2, stream_id="s", meta={}, lanes=1)
    (lane,) = stream.encode(list(records), 1_700_000_000_000_000_000)
    return list(read_pack(write_pack(lane)).events())


def trade(symbol: str, number: int) -> Trade:
    return Trade("bitmex", symbol, str(number), "9349.50", "10", "buy", 1580515200000, 15805152000000000 + number)


def test_help_unknown_commands_and_wrong_words() -> None:
    shown = run("--help")
    assert (shown.returncode, "tail" in shown.stdout, "provision" in shown.stdout) == (0, True, True)
    assert run().returncode == 1
    unknown = run("tali")
    assert (unknown.returncode, unknown.stderr) == (1, "Unknown command: 'tali'; allowed: provision, tail\n")
    assert run("tail").stderr == "target: missing; allowed: nats\n"
    assert run("tail", "kafka").returncode == 2
    assert run("tail", "nats").returncode == 2
    assert run("tail", "nats", "--nope").returncode == 1
    assert run("provision").returncode == 2
    assert "--from-start" in run("tail", "nats", "--help").stdout


def test_a_queue_that_is_away_is_said_in_one_line() -> None:
    done = run("tail", "nats", "--nats-servers", f"nats://127.0.0.1:{free_port()}", "--nats-subject", "x")
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "cannot connect" in done.stderr


async def test_tail_prints_json_lines_and_counts(nats_server: NatsServer) -> None:
    connection = Connection(Access(servers=(nats_server.url,)), name="test")
    js = await connection.jetstream()
    await js.add_stream(name="M", subjects=["m"])
    first, second, third = events(trade("A", 1), trade("A", 2), trade("A", 3))
    for number, data in enumerate([first, second, second, b"\xff\xff", third]):
        await connection.publish("m", data, msg_id=str(number))
    await connection.close()
    target = ("--nats-servers", nats_server.url, "--nats-subject", "m", "--from-start")
    done = run("tail", "nats", *target, "--idle-s", "2")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line["stream_seq"] for line in lines] == [1, 2, 3]
    assert lines[0]["trade"]["price_str"] == "9349.50"
    assert len(lines[0]["event_id"]) == 32
    assert "not a Bronze event" in done.stderr
    assert "3 new, 1 repeated, 0 reordered, 0 stale, 0 lost" in done.stderr
    assert len(run("tail", "nats", *target, "--count", "2").stdout.splitlines()) == 2


async def test_joining_late_is_no_loss_but_a_hole_is(nats_server: NatsServer) -> None:
    connection = Connection(Access(servers=(nats_server.url,)), name="test")
    js = await connection.jetstream()
    await js.add_stream(name="M", subjects=["m"])
    sent = events(*(trade("A", number) for number in range(1, 6)))
    target = ("--nats-servers", nats_server.url, "--nats-subject", "m", "--idle-s", "3")
    await connection.publish("m", sent[0], msg_id="1")
    command = [sys.executable, "-m", "tardis_cli", "tail", "nats", *target]
    tail = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE)
    async with asyncio.timeout(30):
        while not (await js.stream_info("M")).state.consumer_count:
            await asyncio.sleep(0.05)
    for data in (sent[1], sent[2], sent[4]):
        await connection.publish("m", data, msg_id=data.hex())
    await connection.close()
    out, err = await tail.communicate()
    assert (len(out.splitlines()), tail.returncode) == (3, 3)
    assert "1 of 5 lost: 4" in err.decode()  # the first was before its time
    assert run("tail", "nats", *target, "--from-start", "--count", "3").returncode == 0
    assert run("tail", "nats", *target, "--from-start").returncode == 3


async def test_provision_makes_the_queue(nats_server: NatsServer) -> None:
    done = run("provision", "--handoff-url", nats_server.url, "--handoff-backends", "nats", "--handoff-lanes", "2")
    assert (done.returncode, done.stdout) == (0, "the queue is in place for nats\n")
    connection = Connection(Access(servers=(nats_server.url,)), name="test")
    js = await connection.jetstream()
    assert (await js.stream_info("BRONZE_NATS")).state.consumer_count == 2
    await connection.close()


@pytest.mark.parametrize(
    ("record", "shown"),
    [
        (trade("A", 1), "buy 10 @ 9349.50"),
        (BookTicker("bitmex", "A", "1", "2", "3", "4", 1580515200000, 15805152000000000), "best_ask_price_str"),
        (Disconnect("bitmex", None, 15805152000000000), "disconnect"),
        (trade("\x1b[2Jevil", 1), "�[2Jevil"),
    ],
)
def test_lines_for_the_terminal(record: Record, shown: str) -> None:
    line = for_terminal(decode(events(record)[0]))
    assert shown in line
    assert "\x1b[2J" not in line


def test_a_book_change_is_shown_in_short_and_an_empty_event_does_no_harm() -> None:
    levels = [market_pb2.BookChange.Level(price_str="1", qty_str="2")] * 5
    event = NormalizedEvent(exchange="x", book_change=market_pb2.BookChange(bids=levels, is_snapshot=True))
    assert "snapshot of 5: bid 2@1 bid 2@1 bid 2@1" in for_terminal(event)
    assert "no payload" in for_terminal(NormalizedEvent())
    assert json.loads(as_json(NormalizedEvent())) == {}


def test_json_lines_say_what_protobufs_own_json_says() -> None:
    records: list[Record] = [
        trade("A", 1),
        BookTicker("bitmex", "A", "1", None, "3", "4", 1580515200123, 15805152000000000),
        BookChange("bitmex", "ü", True, [("1.10", "2")], [("3", "0")], 1580515200123456, 15805152000000001),
        Disconnect("bitmex", None, 15805152000000000),
    ]
    for data in events(*records):
        event = decode(data)
        ours, theirs = json.loads(as_json(event)), MessageToDict(event, preserving_proto_field_name=True)
        theirs |= {"event_id": event.event_id.hex(), "stream_seq": event.stream_seq}
        assert ours == theirs
