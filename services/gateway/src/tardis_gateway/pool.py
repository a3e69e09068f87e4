"""The gateway's side of its workers: spawns them, spreads replays over them, moves chunks, replaces the dead."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from itertools import count

import msgspec

from tardis_telemetry import ChildMetrics, get_logger

from .channel import Cancel, Chunk, Counted, Credit, Failed, Finished, FromWorker, Start, ToWorker
from .child import ChildProcess, RestartDelay
from .requests import NormalizedReplay
from .worker import WorkerConfig, worker_main

log = get_logger(__name__)

CREDIT_CHUNKS = 4

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
        self._index, self._counts = config.index, counts
        self._child: ChildProcess[FromWorker, ToWorker] = ChildProcess(worker_main, config, FromWorker)
        self.replays: dict[int, Replay] = {}

    @property
    def alive(self) -> bool:
        return self._child.channel is not None

    async def run(self) -> None:
        """Keeps a process running until cancelled."""
        delay = RestartDelay()
        while True:
            delay.begin()
            try:
                await self._run_once()
                log.error("worker has ended; starting another", worker=self._index)
            except Exception:
                log.exception("worker cannot be used; starting another", worker=self._index)
            await asyncio.sleep(delay.next())

    def send(self, message: ToWorker) -> None:
        if self._child.channel is not None:
            self._child.channel.send(message)

    async def _run_once(self) -> None:
        name = f"worker-{self._index}"
        try:
            channel = await self._child.start()
            while (received := await channel.receive()) is not None:
                message, payload = received
                if isinstance(message, Counted):
                    self._counts.take(name, message.samples)
                elif replay := self.replays.get(message.replay):
                    replay.inbox.put_nowait((message, payload))
        finally:
            self._lose_replays()
            self._counts.ended(name)
            await self._child.stop()

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
