"""What a request may say, and what is answered when it says something else."""

from __future__ import annotations

import asyncio
import json
import socket
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tardis_feeds import SourceRefused
from tardis_gateway.channel import Channel, Chunk, Credit, Failed, FromWorker, Start, ToWorker
from tardis_gateway.dates import parse_date
from tardis_gateway.requests import RequestError, parse_normalized
from tardis_gateway.worker import failure
from tardis_market import InvalidDataType

GOOD = {"exchange": "bitmex", "from": "2020-02-01", "to": "2020-02-01T00:10", "dataTypes": ["trade"]}


def test_a_good_request() -> None:
    request = parse_normalized(json.dumps({**GOOD, "symbols": ["XBTUSD"], "withDisconnectMessages": True, "apiKey": "k"}), "r1")
    assert request.start == datetime(2020, 2, 1, tzinfo=UTC)
    assert request.end == datetime(2020, 2, 1, 0, 10, tzinfo=UTC)
    assert (request.symbols, request.with_disconnect_messages, request.api_key) == (["XBTUSD"], True, "k")
    assert request.publish is True
    assert parse_normalized(json.dumps([{**GOOD, "publish": False}]), "r2").publish is False


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"from": "xx"}, 'Invalid "from" argument: xx. Please provide valid date string.'),
        ({"to": "2020-13-01"}, 'Invalid "to" argument: 2020-13-01. Please provide valid date string.'),
        ({"from": None}, 'Invalid "from" argument: undefined. Please provide valid date string.'),
        (
            {"to": "2020-01-01"},
            'Invalid "to" and "from" arguments combination. Please provide "to" date that is later than "from" date.',
        ),
        ({"dataTypes": None}, "dataTypes"),
        ({"dataTypes": "trade"}, "dataTypes"),
        ({"dataTypes": [1]}, "dataTypes"),
        ({"symbols": "XBTUSD"}, "symbols"),
        ({"symbols": [{}]}, "symbols"),
    ],
)
def test_what_is_wrong_is_named(change: dict[str, object], message: str) -> None:
    with pytest.raises(RequestError) as error:
        parse_normalized(json.dumps({**GOOD, **change}), "r")
    assert message in str(error.value)
    assert error.value.typed


@pytest.mark.parametrize("text", [None, "", "{bad", "undefined", "[" * 5000, '"\\ud800"', "x" * (600 << 10), "[]", "3", "[1, 2]"])
def test_what_is_no_option_set_is_refused(text: str | None) -> None:
    with pytest.raises(RequestError, match="options"):
        parse_normalized(text, "r")


@given(st.text(max_size=200))
def test_no_text_does_more_than_be_refused(text: str) -> None:
    with pytest.raises(RequestError):
        parse_normalized(text, "r")


def test_dates_without_a_zone_are_utc() -> None:
    for text in ("2020-02-01", "2020-02-01T00:00", "2020-02-01 00:00", "2020-02-01T00:00:00.000Z", "2020-02-01T01:00:00+01:00"):
        assert parse_date(text) == datetime(2020, 2, 1, tzinfo=UTC)


def test_errors_are_answered_as_clients_know_them() -> None:
    refused = SourceRefused(401, '{"code": 100}', "http://api/v1/data-feeds/bitmex")
    message, body = failure(7, refused)
    assert message == Failed(7, 401)
    assert list(json.loads(body)) == ["responseText", "message", "url"]
    assert failure(1, InvalidDataType("invalid data type: x"))[1] == b'{"message":"invalid data type: x"}'
    assert failure(1, KeyError("inner detail")) == (Failed(1, 500), b'{"message":"Internal error"}')


async def test_messages_cross_the_channel_with_their_payload() -> None:
    ours, theirs = socket.socketpair()
    ends = []
    for sock, incoming in ((ours, FromWorker), (theirs, ToWorker)):
        reader, writer = await asyncio.open_connection(sock=sock)
        ends.append(Channel[object, object](reader, writer, incoming))
    gateway, worker = ends
    gateway.send(Start(1, b"{}", 4))
    gateway.send(Credit(1))
    worker.send(Chunk(1, 3), b"x" * 300_000)
    assert await worker.receive() == (Start(1, b"{}", 4), b"")
    assert await worker.receive() == (Credit(1), b"")
    assert await gateway.receive() == (Chunk(1, 3), b"x" * 300_000)
    worker.close()
    assert await gateway.receive() is None
    gateway.close()
