"""The publisher's own port: alive as soon as it runs, ready when it can publish, gone when it has drained."""

from __future__ import annotations

import asyncio
import http.client
import sys
from pathlib import Path

import pytest

from tardis_handoff import provision
from tardis_jetstream import Access, Connection
from tardis_publisher.health import Health, listening
from tardis_testing import NatsServer, Program, free_port, wait_until


def get(port: int, path: str) -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    except ConnectionRefusedError:
        return 0, ""
    finally:
        connection.close()


async def test_answers_while_the_block_runs() -> None:
    port, ready = free_port(), False
    async with listening(port, Health(lambda: ready)):
        assert await asyncio.to_thread(get, port, "/live") == (200, "live\n")
        assert (await asyncio.to_thread(get, port, "/ready"))[0] == 503
        ready = True
        assert await asyncio.to_thread(get, port, "/ready") == (200, "ready\n")
        status, text = await asyncio.to_thread(get, port, "/metrics")
        assert (status, "tardis_publisher_events_in_flight" in text) == (200, True)
        assert (await asyncio.to_thread(get, port, "/other"))[0] == 404
    assert (await asyncio.to_thread(get, port, "/live"))[0] == 0


async def test_port_0_listens_on_none() -> None:
    async with listening(0, Health(lambda: True)):
        pass


async def test_a_taken_port_is_said_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    port = free_port()
    async with listening(port, Health(lambda: True)):
        with pytest.raises(SystemExit):
            async with listening(port, Health(lambda: True)):
                pass
    assert capsys.readouterr().err == f"publisher-port: {port} cannot be listened on (Address already in use)\n"


async def test_the_program_is_live_before_it_is_ready_and_stops_cleanly(tmp_path: Path) -> None:
    port, nats = free_port(), NatsServer(tmp_path / "nats")
    settings = {
        "TM_HANDOFF_URL": nats.url,
        "TM_HANDOFF_LANES": "1",
        "TM_NATS_SERVERS": nats.url,
        "TM_NATS_SUBJECT": "out",
        "TM_NATS_STREAM": "OUT",
        "TM_PUBLISHER_PORT": str(port),
        "TM_PUBLISHER_DRAIN_TIMEOUT_S": "1",
    }
    with Program([sys.executable, "-m", "tardis_publisher", "nats"], tmp_path / "publisher.log", settings) as program:
        await asyncio.to_thread(wait_until, lambda: get(port, "/live")[0] == 200)
        assert get(port, "/ready")[0] == 503
        with nats:
            queue = Connection(Access(servers=(nats.url,)), name="test")
            await provision(queue, ["nats"], lanes=1, max_bytes=1 << 24)
            await queue.close()
            await asyncio.to_thread(wait_until, lambda: get(port, "/ready")[0] == 200)
            nats.kill()
            await asyncio.to_thread(wait_until, lambda: get(port, "/ready")[0] == 503)
            nats.start()
            await asyncio.to_thread(wait_until, lambda: get(port, "/ready")[0] == 200)
            assert await asyncio.to_thread(program.stop) == 0
    assert "Traceback" not in program.text
