"""Which answers are worth another try: all that the message itself is not to blame for."""

from __future__ import annotations

from pathlib import Path

import pytest
from nats.errors import NoRespondersError
from nats.js.errors import APIError, BadRequestError, NotFoundError, ServerError, ServiceUnavailableError

from tardis_jetstream import Access, Connection, NotFound, Refused, TooLarge, Unavailable, find_stream, stored_already
from tardis_jetstream.answers import translated
from tardis_testing import NatsServer


def test_a_stored_message_is_new_or_a_repeat() -> None:
    assert stored_already(b'{"stream":"S","seq":1}') is False
    assert stored_already(b'{"stream":"S","seq":1,"duplicate":true}') is True


@pytest.mark.parametrize("code", [10059, 10060, 10039, 10076, 10077, 10008])
def test_what_can_be_mended_at_the_server_is_recoverable(code: int) -> None:
    with pytest.raises(Unavailable, match=str(code)):
        stored_already(b'{"error":{"code":503,"err_code":%d,"description":"no"}}' % code)


def test_only_a_message_that_is_too_large_is_refused() -> None:
    with pytest.raises(TooLarge, match="exceeds"):
        stored_already(b'{"error":{"code":400,"err_code":10054,"description":"message size exceeds maximum allowed"}}')


@pytest.mark.parametrize("answer", [b"", b"[]", b"-ERR"])
def test_an_answer_without_a_body_means_that_no_stream_is_there(answer: bytes) -> None:
    with pytest.raises(Unavailable, match="no stream"):
        stored_already(answer)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (NoRespondersError(), Unavailable),
        (NotFoundError(code=404, err_code=10059, description="stream not found"), NotFound),
        (BadRequestError(code=400, err_code=10065, description="subjects overlap"), Refused),
        (ServiceUnavailableError(), Refused),
        (ServiceUnavailableError(code=503, err_code=10039, description="not enabled for account"), Refused),
        (ServiceUnavailableError(code=503, err_code=10008, description="temporarily unavailable"), Unavailable),
        (ServerError(code=500, err_code=10047, description="insufficient storage"), Unavailable),
        (APIError(code=408, description="request timeout"), Unavailable),
        (OSError("nats://ann:s3cret@host broke"), Unavailable),
    ],
)
def test_errors_of_the_client_become_ours(error: Exception, kind: type[Exception]) -> None:
    ours = translated(error)
    assert type(ours) is kind
    assert str(ours)
    assert "s3cret" not in str(ours)


async def test_a_server_without_jetstream_says_so(tmp_path: Path) -> None:
    with NatsServer(tmp_path / "nats", "-js=false") as server:
        connection = Connection(Access(servers=(server.url,)), name="test")
        with pytest.raises(Refused, match="not enabled"):
            await connection.ask("STREAM.INFO.S", {})
        with pytest.raises(Refused, match="not enabled"):
            await find_stream(connection, "s.1")
        with pytest.raises(Unavailable, match="no stream"):
            await connection.publish("s.1", b"x", msg_id="1")
        await connection.close()


async def test_the_api_tells_what_is_missing_from_what_is_wrong(nats_server: NatsServer) -> None:
    connection = Connection(Access(servers=(nats_server.url,)), name="test")
    with pytest.raises(NotFound, match="stream not found"):
        await connection.ask("STREAM.INFO.S", {})
    await connection.ask("STREAM.CREATE.S", {"name": "S", "subjects": ["s"]})
    assert (await connection.ask("STREAM.INFO.S", {}))["config"]["subjects"] == ["s"]
    with pytest.raises(Refused, match="overlap"):
        await connection.ask("STREAM.CREATE.T", {"name": "T", "subjects": ["s"]})
    await connection.close()
