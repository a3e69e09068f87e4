"""A worker process: runs replays side by side, each with a credit of its own.

The gateway's end of the socket closing means that the gateway is gone; the worker then ends too. What it has appended to its
spool log by then is whole, and the next forwarder finds it.
"""

from __future__ import annotations

import asyncio
import gc
import socket
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import msgspec
import uvloop

from tardis_feeds import FeedError, SliceCache, SliceFetcher, SourceRefused
from tardis_handoff import Spool, SpoolLog
from tardis_handoff.log import Fsync
from tardis_market import MarketError
from tardis_telemetry import configure_logs, get_logger, log_context

from .channel import Cancel, Channel, Chunk, Credit, Failed, Finished, FromWorker, Start, ToWorker, send_counts
from .child import leave_signals_to_the_gateway
from .replay import ReplayedChunk, replay_normalized
from .requests import NormalizedReplay

log = get_logger(__name__)


@dataclass(frozen=True, kw_only=True)
class WorkerConfig:
    index: int
    api_url: str
    api_key: str | None = field(repr=False)
    cache_dir: Path
    spool_dir: Path | None  # None: nothing is published
    spool_fsync: Fsync
    lanes: int
    producer_id: str
    log_format: Literal["text", "json"]
    log_level: str


def worker_main(config: WorkerConfig, sock: socket.socket) -> None:
    leave_signals_to_the_gateway()
    configure_logs(config.log_format, config.log_level, f"worker-{config.index}")
    gc.freeze()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve(config, sock))


async def _serve(config: WorkerConfig, sock: socket.socket) -> None:
    reader, writer = await asyncio.open_connection(sock=sock, limit=1 << 20)
    channel: Channel[ToWorker, FromWorker] = Channel(reader, writer, ToWorker)
    spool_log = None
    if config.spool_dir is not None:
        spool_log = Spool(config.spool_dir).new_log(f"w{config.index}", fsync=config.spool_fsync)
    fetcher = SliceFetcher(config.api_url, SliceCache(config.cache_dir), config.api_key)
    worker = Worker(config, channel, fetcher, spool_log)
    try:
        await worker.run()
    finally:
        await fetcher.close()
        if spool_log is not None:
            spool_log.close()


class Worker:
    def __init__(
        self, config: WorkerConfig, channel: Channel[ToWorker, FromWorker], fetcher: SliceFetcher, spool_log: SpoolLog | None
    ) -> None:
        self._config, self._channel, self._fetcher, self._spool_log = config, channel, fetcher, spool_log
        self._credits: dict[int, asyncio.Semaphore] = {}
        self._tasks: dict[int, asyncio.Task[None]] = {}

    async def run(self) -> None:
        counting = asyncio.create_task(send_counts(self._channel))
        while (received := await self._channel.receive()) is not None:
            match received[0]:
                case Start() as start:
                    self._credits[start.replay] = asyncio.Semaphore(start.credit)
                    self._tasks[start.replay] = asyncio.create_task(self._replay(start))
                case Credit(replay):
                    if replay in self._credits:
                        self._credits[replay].release()
                case Cancel(replay):
                    if task := self._tasks.get(replay):
                        task.cancel()
        counting.cancel()
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(counting, *self._tasks.values(), return_exceptions=True)

    async def _replay(self, start: Start) -> None:
        request = msgspec.json.decode(start.request, type=NormalizedReplay)
        with log_context(request_id=request.request_id, stream_id=request.request_id):
            try:
                async for chunk in replay_normalized(request, self._fetcher, self._config):
                    await self._emit(start.replay, chunk)
                self._channel.send(Finished(start.replay))
            except (FeedError, MarketError) as error:
                self._fail(start.replay, request, error)
            except Exception as error:
                log.exception("replay failed", exchange=request.exchange)
                self._fail(start.replay, request, error)
            finally:
                self._tasks.pop(start.replay, None)
                self._credits.pop(start.replay, None)

    async def _emit(self, replay: int, chunk: ReplayedChunk) -> None:
        """What is to be published is on disk before the client sees it."""
        if self._spool_log is not None and chunk.packs:
            self._spool_log.append(chunk.packs)
        if chunk.text:
            await self._credits[replay].acquire()
            self._channel.send(Chunk(replay, chunk.messages), chunk.text)
        await asyncio.sleep(0)  # the other replays' turn

    def _fail(self, replay: int, request: NormalizedReplay, error: Exception) -> None:
        log.warning("replay ended with an error", exchange=request.exchange, error=str(error))
        self._channel.send(*failure(replay, error))


def failure(replay: int, error: Exception) -> tuple[Failed, bytes]:
    """Status and body as clients of the contract expect them; nothing of our own inside shows."""
    if isinstance(error, SourceRefused):
        body = {"responseText": error.text, "message": str(error), "url": error.url}
        return Failed(replay, error.status), msgspec.json.encode(body)
    known = isinstance(error, FeedError | MarketError)
    return Failed(replay, 500), msgspec.json.encode({"message": str(error) if known else "Internal error"})
