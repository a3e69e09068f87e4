"""Generation and compression in worker processes, so that the event loop stays free for other requests."""

import asyncio
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Hashable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from datetime import date
from pathlib import Path
from typing import BinaryIO, TypeVar
from weakref import WeakValueDictionary

from tardis_simulator.damage import build_damaged
from tardis_simulator.retention import trim
from tardis_simulator.slices import Pantry, Slice

WORKERS = 2
ATTEMPTS = 3

Result = TypeVar("Result")


class Workshop:
    """Hands out answers. Work on one day, and on one answer, is done once however many requests wait for it."""

    def __init__(self, pantry: Pantry, max_bytes: int) -> None:
        self.pantry = pantry
        self._max_bytes = max_bytes
        self._pool = _new_pool()
        self._closed = False
        self._locks: WeakValueDictionary[Hashable, asyncio.Lock] = WeakValueDictionary()

    def close(self) -> None:
        """End the workers at once: files appear by rename, so nothing half-done stays, and a minute may take long."""
        self._closed = True
        for worker in list((self._pool._processes or {}).values()):
            worker.terminate()
        self._pool.shutdown(wait=True, cancel_futures=True)

    async def answer(self, wanted: Slice) -> BinaryIO:
        """The stored answer, opened: retention may drop the file, not what an open handle reads."""
        path = self.pantry.answer_path(wanted)
        for _ in range(ATTEMPTS):
            if (file := _opened(path)) is not None:
                return file
            async with self._lock(path):
                await self._make(wanted)
        raise FileNotFoundError("the data folder is too small for its load")

    async def fresh(self, wanted: Slice) -> bytes:
        """An answer that is not stored, because its recording may change."""
        await self._prepare(wanted)
        return await self._run(self.pantry.build, wanted)

    async def damaged(self, wanted: Slice, *, garbage_line: bool = False, garbage: bool = False) -> bytes:
        await self._prepare(wanted)
        return await self._run(build_damaged, self.pantry, wanted, garbage_line, garbage)

    async def _make(self, wanted: Slice) -> None:
        if self.pantry.answer_path(wanted).exists():
            return
        await self._prepare(wanted)
        try:
            await self._run(self.pantry.build_answer, wanted)
        except FileNotFoundError:
            return  # retention was quicker; the caller tries again
        await self._run(trim, self.pantry.store.root, self._max_bytes)

    async def _prepare(self, wanted: Slice) -> None:
        store = self.pantry.store
        for day, minute in self.pantry.generated(wanted):
            # One minute per job: days and exchanges take turns, and a stop waits for one minute at most.
            while not store.has(wanted.exchange, day, minute):
                async with self._lock((wanted.exchange, day)):
                    await self._generate(wanted.exchange, day, minute)

    async def _generate(self, exchange: str, day: date, minute: int) -> None:
        if not self.pantry.store.has(exchange, day, minute):
            await self._run(self.pantry.store.generate_next, exchange, day, minute)

    def _lock(self, key: Hashable) -> asyncio.Lock:
        return self._locks.setdefault(key, asyncio.Lock())

    async def _run(self, job: Callable[..., Result], *arguments: object) -> Result:
        pool = self._pool
        try:
            return await asyncio.get_running_loop().run_in_executor(pool, job, *arguments)
        except BrokenProcessPool:
            if self._closed:
                raise
            if self._pool is pool:
                self._pool = _new_pool()
            return await asyncio.get_running_loop().run_in_executor(self._pool, job, *arguments)


def _opened(path: Path) -> BinaryIO | None:
    try:
        file = path.open("rb")
    except FileNotFoundError:
        return None
    with suppress(FileNotFoundError):
        os.utime(path)
    return file


def _new_pool() -> ProcessPoolExecutor:
    return ProcessPoolExecutor(WORKERS, mp_context=multiprocessing.get_context("spawn"), initializer=_start_worker)


def _start_worker() -> None:
    # Ctrl-C reaches the whole process group; the server decides when its workers end.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """A killed server leaves its pool waiting for work for ever; this worker does not want to."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
