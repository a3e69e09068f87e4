"""Child processes: started in order, started again when they die, stopped in reverse."""

from __future__ import annotations

import asyncio
import ctypes
import os
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tardis_telemetry import get_logger

log = get_logger(__name__)

FIRST_DELAY_S = 1.0
MAX_DELAY_S = 10.0
STEADY_S = 10.0  # a child that lived this long was no failed start
_PR_SET_PDEATHSIG = 1


@dataclass(frozen=True, kw_only=True)
class Program:
    name: str
    command: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)  # of its settings; ours are not inherited
    stop_timeout_s: float = 10.0


class Child:
    """One supervised program. It leads a session of its own, so that a Ctrl-C at the terminal reaches only us."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._process: asyncio.subprocess.Process | None = None
        self._task: asyncio.Task[None] | None = None
        self._stopping = asyncio.Event()
        self._begun = 0.0

    async def start(self) -> None:
        await self._spawn()
        self._task = asyncio.create_task(self._supervise())

    async def stop(self) -> None:
        self._stopping.set()
        if self._process is None or self._task is None:
            return
        self._signal(signal.SIGTERM)
        _, late = await asyncio.wait({self._task}, timeout=self.program.stop_timeout_s)
        if late:
            log.warning("child did not stop in time and is killed", child=self.program.name)
            self._signal(signal.SIGKILL)
            await self._task

    async def _spawn(self) -> None:
        self._begun = time.monotonic()
        self._process = await asyncio.create_subprocess_exec(
            *self.program.command,
            env={**_inherited(), **self.program.environment},
            stdin=asyncio.subprocess.DEVNULL,
            start_new_session=True,
            preexec_fn=_die_with_parent,
        )
        log.info("started", child=self.program.name, pid=self._process.pid)

    async def _supervise(self) -> None:
        delay = FIRST_DELAY_S
        while True:
            assert self._process is not None
            code = await self._process.wait()
            if self._stopping.is_set():
                return
            log.error("child has ended; starting it again", child=self.program.name, exit_code=code)
            delay = FIRST_DELAY_S if time.monotonic() - self._begun >= STEADY_S else delay
            if await self._stopped_within(delay):
                return
            delay = min(MAX_DELAY_S, 2 * delay)
            try:
                await self._spawn()
            except Exception as error:
                log.error("child cannot be started", child=self.program.name, error=str(error))
            if self._stopping.is_set():  # asked for while it was being started
                self._signal(signal.SIGTERM)

    async def _stopped_within(self, seconds: float) -> bool:
        try:
            await asyncio.wait_for(self._stopping.wait(), seconds)
        except TimeoutError:
            return False
        return True

    def _signal(self, number: int) -> None:
        if self._process is not None and self._process.returncode is None:
            self._process.send_signal(number)


def _inherited() -> dict[str, str]:
    """Without our own settings: a child gets its own, and no secret that it does not need."""
    return {name: value for name, value in os.environ.items() if name != "PORT" and not name.startswith("TM_")}


def python(module: str, *arguments: str) -> list[str]:
    return [sys.executable, "-m", module, *arguments]


def _die_with_parent() -> None:
    """Linux ends the child when we are killed; elsewhere an orphan has to be stopped by hand."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
