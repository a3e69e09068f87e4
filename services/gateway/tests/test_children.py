"""The gateway's children when something goes wrong with them: whatever it is, they are replaced, and nobody waits for ever."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime
from multiprocessing.context import SpawnProcess
from pathlib import Path

import pytest
import zstandard
from aiohttp import web

from tardis_gateway import channel, child
from tardis_gateway.child import RestartDelay
from tardis_gateway.forwarding import ForwarderConfig, ForwarderProcess
from tardis_gateway.pool import ReplayFailed, WorkerPool
from tardis_gateway.requests import NormalizedReplay
from tardis_gateway.worker import WorkerConfig
from tardis_jetstream import Access
from tardis_telemetry import ChildMetrics
from tardis_testing import free_port

MINUTE = NormalizedReplay(
    exchange="bitmex",
    start=datetime(2020, 2, 1, tzinfo=UTC),
    end=datetime(2020, 2, 1, 0, 1, tzinfo=UTC),
    data_types=["trade"],
    api_key="the-clients-key",
)
LINE = (
    b'2020-02-01T00:00:00.0000000Z {"table":"trade","action":"insert","data":[{"timestamp":"2020-02-01T00:00:00.000Z",'
    b'"symbol":"XBTUSD","side":"Buy","size":1,"price":9349.5,"trdMatchID":"1"}]}\n'
)


@pytest.fixture
async def api_url() -> AsyncIterator[str]:
    async def minute(_: web.Request) -> web.Response:
        return web.Response(body=zstandard.compress(LINE * 100), headers={"Content-Encoding": "zstd"})

    app = web.Application()
    app.router.add_get("/v1/data-feeds/bitmex", minute)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    host, port = runner.addresses[0][:2]
    yield f"http://{host}:{port}/v1"
    await runner.cleanup()


@pytest.fixture
def config(api_url: str, tmp_path: Path) -> WorkerConfig:
    return WorkerConfig(
        index=0,
        api_url=api_url,
        api_key="our-key",
        cache_dir=tmp_path,
        spool_dir=None,
        spool_fsync="never",
        lanes=1,
        producer_id="test",
        log_format="text",
        log_level="info",
    )


@pytest.fixture
async def pool(config: WorkerConfig) -> AsyncIterator[WorkerPool]:
    made = WorkerPool(config, 1, ChildMetrics())
    made.start()
    yield made
    await made.stop()


async def eventually(true: Callable[[], object]) -> None:
    async with asyncio.timeout(30):
        while not true():
            await asyncio.sleep(0.02)


async def replay(pool: WorkerPool) -> bytes:
    async with asyncio.timeout(30), pool.replay(MINUTE) as running:
        return b"".join([chunk async for chunk in running.chunks()])


async def test_a_frame_over_the_limit_ends_the_replay_and_the_worker_is_replaced(
    pool: WorkerPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    await eventually(lambda: pool.alive)
    assert (await replay(pool)).count(b"\n") == 100
    monkeypatch.setattr(channel, "MAX_PAYLOAD_BYTES", 100)  # on our side only: the worker has a process of its own
    with pytest.raises(ReplayFailed) as failed:
        await replay(pool)
    assert failed.value.body == b'{"message":"The worker of this replay has ended"}'
    assert pool.alive == 0
    monkeypatch.undo()
    await eventually(lambda: pool.alive)
    assert (await replay(pool)).count(b"\n") == 100


async def test_starts_that_fail_are_tried_again(
    config: WorkerConfig, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    failing = [OSError("out of processes"), OSError("out of processes")]
    start = SpawnProcess.start

    def sometimes(process: SpawnProcess) -> None:
        if failing:
            raise failing.pop()
        start(process)

    monkeypatch.setattr(SpawnProcess, "start", sometimes)
    monkeypatch.setattr(child, "FIRST_DELAY_S", 0.05)
    pool = WorkerPool(config, 1, ChildMetrics())
    pool.start()
    try:
        await eventually(lambda: pool.alive)
        assert (await replay(pool)).count(b"\n") == 100
    finally:
        await pool.stop()
    assert caplog.text.count("worker cannot be used") == 2
    assert "key" not in caplog.text


async def test_a_forwarder_that_cannot_be_understood_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    config = ForwarderConfig(
        spool_dir=tmp_path,
        access=Access(servers=(f"nats://127.0.0.1:{free_port()}",)),
        backends=("nats",),
        drain_timeout_s=1,
        log_format="text",
        log_level="info",
    )
    counts = ChildMetrics()
    taken: list[str] = []
    monkeypatch.setattr(counts, "take", lambda name, samples: taken.append(name))
    forwarder = ForwarderProcess(config, counts)
    with monkeypatch.context() as patched:
        patched.setattr(channel, "MAX_HEAD_BYTES", 0)
        forwarder.start()
        await eventually(lambda: "forwarder cannot be used" in caplog.text)
        assert not taken
    await eventually(lambda: taken)
    await forwarder.drain()
    assert "forwarder has ended" not in caplog.text


def test_the_delay_grows_while_starts_fail_and_is_short_after_a_steady_run(monkeypatch: pytest.MonkeyPatch) -> None:
    delay = RestartDelay()
    delay.begin()
    assert [delay.next() for _ in range(7)] == [0.5, 1, 2, 4, 8, 10, 10]
    monkeypatch.setattr(child, "STEADY_S", 0)
    assert delay.next() == 0.5


def test_keys_do_not_show(config: WorkerConfig) -> None:
    assert "our-key" not in repr(config)
    assert "the-clients-key" not in repr(MINUTE)
    assert "bitmex" in repr(MINUTE)
