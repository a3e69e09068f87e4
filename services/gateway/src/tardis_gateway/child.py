"""A child process of the gateway at the other end of a channel, and how long to wait before the next one is started."""

from __future__ import annotations

import asyncio
import multiprocessing
import signal
import socket
import time
from collections.abc import Callable
from typing import Any, Generic

from .channel import Channel, In, Out

STOP_TIMEOUT_S = 5.0
FIRST_DELAY_S = 0.5
MAX_DELAY_S = 10.0
STEADY_S = 10.0  # a process that lived this long was no failed start


class ChildProcess(Generic[In, Out]):
    def __init__(self, main: Callable[[Any, socket.socket], None], config: object, incoming: object) -> None:
        self._main, self._config, self._incoming = main, config, incoming
        self._process: multiprocessing.process.BaseProcess | None = None
        self.channel: Channel[In, Out] | None = None

    async def start(self) -> Channel[In, Out]:
        ours, theirs = socket.socketpair()
        try:
            process = multiprocessing.get_context("spawn").Process(target=self._main, args=(self._config, theirs), daemon=True)
            await asyncio.to_thread(process.start)
        except BaseException:
            ours.close()
            raise
        finally:
            theirs.close()
        self._process = process
        self.channel = Channel(*await asyncio.open_connection(sock=ours, limit=1 << 20), self._incoming)
        return self.channel

    async def stop(self) -> int | None:
        """Closing the socket tells the process to end; it gets some time for it. Returns its exit code."""
        if self.channel is not None:
            self.channel.close()
            self.channel = None
        process, self._process = self._process, None
        if process is None:
            return None
        await asyncio.to_thread(process.join, STOP_TIMEOUT_S)
        if process.is_alive():
            process.kill()
            await asyncio.to_thread(process.join)
        return process.exitcode


class RestartDelay:
    """Short after a steady run; doubles while one start after the other fails."""

    def __init__(self) -> None:
        self._delay = FIRST_DELAY_S
        self._begun = 0.0

    def begin(self) -> None:
        self._begun = time.monotonic()

    def next(self) -> float:
        if time.monotonic() - self._begun >= STEADY_S:
            self._delay = FIRST_DELAY_S
        delay, self._delay = self._delay, min(MAX_DELAY_S, 2 * self._delay)
        return delay


def leave_signals_to_the_gateway() -> None:
    """A Ctrl-C reaches the whole terminal and systemd's SIGTERM every process; only the closing socket tells a child to end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
