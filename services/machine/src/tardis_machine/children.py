"""Child processes: started in order, started again when they die, stopped in reverse."""

from __future__ import annotations

import asyncio
import ctypes
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tardis_telemetry import get_logger

log = get_logger(__name__)

RESTART_DELAY_S = 1.0
_PR_SET_PDEATHSIG = 1


@dataclass(frozen=True, kw_only=True)
class Program:
    name: str
    command: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    stop_timeout_s: float = 10.0


class Child:
    """One supervised program. It leads a session of its own, so that a Ctrl-C at the terminal reaches only us."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._process: asyncio.subprocess.Process | None = None
        self._task: asyncio.Task[None] | None = None
        self._stopping = False

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process else None

    async def start(self) -> None:
        await self._spawn()
        self._task = asyncio.create_task(self._supervise())

    async def stop(self) -> None:
        self._stopping = True
        if self._process is None or self._task is None:
            return
        if self._process.returncode is None:
            self._process.terminate()
        _, late = await asyncio.wait({self._task}, timeout=self.program.stop_timeout_s)
        if late:
            log.warning("child did not stop in time and is killed", child=self.program.name)
            self._process.kill()
            await self._task

    async def _spawn(self) -> None:
        self._process = await asyncio.create_subprocess_exec(
            *self.program.command,
            env={**os.environ, **self.program.environment},
            stdin=asyncio.subprocess.DEVNULL,
            start_new_session=True,
            preexec_fn=_die_with_parent,
        )

    async def _supervise(self) -> None:
        while True:
            assert self._process is not None
            code = await self._process.wait()
            if self._stopping:
                return
            log.error("child has ended; starting it again", child=self.program.name, exit_code=code)
            await asyncio.sleep(RESTART_DELAY_S)
            if self._stopping:
                return
            await self._spawn()


def python(module: str, *arguments: str) -> list[str]:
    return [sys.executable, "-m", module, *arguments]


def _die_with_parent() -> None:
    """Linux ends the child when we are killed; elsewhere an orphan has to be stopped by hand."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
