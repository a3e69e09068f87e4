"""The gateway's side of its workers: spawns them, spreads replays over them, moves chunks, replaces the dead."""

from __future__ import annotations

import asyncio
import multiprocessing
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from itertools import count

import msgspec

from tardis_telemetry import ChildMetrics, get_logger

from .channel import Cancel, Channel, Chunk, Counted, Credit, Failed, Finished, FromWorker, Start, ToWorker
from .requests import NormalizedReplay
from .worker import WorkerConfig, worker_main

log = get_logger(__name__)

CREDIT_CHUNKS = 4
RESTART_DELAY_S = 0.5
STOP_TIMEOUT_S = 5.0

_LOST = msgspec.json.encode({"message": "The worker of this replay has ended"})


class ReplayFailed(Exception):
    def __init__(self, status: int, body: bytes) -> None:
        super().__init__(status)
        self.status, self.body = status, body


class Replay:
    """One running replay as the gateway sees it: an async iterator of chunks."""

    def __init__(self, ident: int, worker: WorkerProcess) -> None:
        self.ident, self._worker = ident, worker
        self.inbox: asyncio.Queue[tuple[Chunk | Finished | Failed, bytes]] = asyncio.Queue()
        self.messages = 0

    async def chunks(self) -> AsyncIterator[bytes]:
        """Asking for the next chunk says that the one before has been taken."""
        while True:
            message, payload = await self.inbox.get()
            match message:
                case Chunk(messages=messages):
                    self.messages += messages
                    yield payload
                    self._worker.send(Credit(self.ident))
                case Failed(status=status):
                    raise ReplayFailed(status, payload)
                case Finished():
                    return


class WorkerProcess:
    def __init__(self, config: WorkerConfig, counts: ChildMetrics) -> None:
        self._config, self._counts = config, counts
        self._channel: Channel[FromWorker, ToWorker] | None = None
        self._process: multiprocessing.process.BaseProcess | None = None
        self.replays: dict[int, Replay] = {}

    @property
    def alive(self) -> bool:
        return self._channel is not None

    @property
    def _name(self) -> str:
        return f"worker-{self._config.index}"

    async def run(self) -> None:
        """Keeps a process running until cancelled."""
        while True:
            await self._start()
            await self._receive()
            self._lose_replays()
            self._counts.ended(self._name)
            log.error("worker has ended; starting another", worker=self._config.index)
            await self.stop()
            await asyncio.sleep(RESTART_DELAY_S)

    async def stop(self) -> None:
        """Closing the socket tells the worker to end; it gets some time for it."""
        if self._channel is not None:
            self._channel.close()
            self._channel = None
        if self._process is not None:
            await asyncio.to_thread(self._process.join, STOP_TIMEOUT_S)
            if self._process.is_alive():
                self._process.kill()
                await asyncio.to_thread(self._process.join)
            self._process = None

    def send(self, message: ToWorker) -> None:
        if self._channel is not None:
            self._channel.send(message)

    async def _start(self) -> None:
        ours, theirs = socket.socketpair()
        process = multiprocessing.get_context("spawn").Process(target=worker_main, args=(self._config, theirs), daemon=True)
        await asyncio.to_thread(process.start)
        theirs.close()
        reader, writer = await asyncio.open_connection(sock=ours, limit=1 << 20)
        self._process = process
        self._channel = Channel(reader, writer, FromWorker)

    async def _receive(self) -> None:
        assert self._channel is not None
        while (received := await self._channel.receive()) is not None:
            message, payload = received
            if isinstance(message, Counted):
                self._counts.take(self._name, message.samples)
            elif replay := self.replays.get(message.replay):
                replay.inbox.put_nowait((message, payload))

    def _lose_replays(self) -> None:
        for replay in self.replays.values():
            replay.inbox.put_nowait((Failed(replay.ident, 500), _LOST))


class WorkerPool:
    def __init__(self, config: WorkerConfig, workers: int, counts: ChildMetrics) -> None:
        self._workers = [WorkerProcess(replace(config, index=index), counts) for index in range(workers)]
        self._tasks: list[asyncio.Task[None]] = []
        self._ids = count(1)

    def start(self) -> None:
        self._tasks = [asyncio.create_task(worker.run()) for worker in self._workers]

    async def stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.gather(*(worker.stop() for worker in self._workers))

    @property
    def alive(self) -> int:
        return sum(worker.alive for worker in self._workers)

    @property
    def active(self) -> int:
        return sum(len(worker.replays) for worker in self._workers)

    @asynccontextmanager
    async def replay(self, request: NormalizedReplay) -> AsyncIterator[Replay]:
        """Runs on the worker with the least to do; leaving the context ends the replay wherever it is."""
        ready = [worker for worker in self._workers if worker.alive]
        if not ready:
            raise ReplayFailed(503, msgspec.json.encode({"message": "No worker is ready"}))
        worker = min(ready, key=lambda w: len(w.replays))
        replay = Replay(next(self._ids), worker)
        worker.replays[replay.ident] = replay
        worker.send(Start(replay.ident, msgspec.json.encode(request), CREDIT_CHUNKS))
        try:
            yield replay
        finally:
            worker.replays.pop(replay.ident, None)
            worker.send(Cancel(replay.ident))
