"""Programs under test: started, watched, and ended by us alone."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Self


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def wait_until(true: Callable[[], object], *, within: float = 20.0, what: str = "") -> None:
    until = time.monotonic() + within
    while not true():
        if time.monotonic() > until:
            raise AssertionError(f"not so after {within} s: {what or true}")
        time.sleep(0.02)


class Program:
    """A process with its output in a file. `kill` is kill -9."""

    def __init__(self, command: Sequence[str], output: Path, environment: Mapping[str, str] | None = None) -> None:
        self._command, self._environment, self.output = list(command), dict(environment or {}), output
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self.running:
            self.kill()

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        self.output.parent.mkdir(parents=True, exist_ok=True)
        with self.output.open("ab") as output:
            self._process = subprocess.Popen(
                self._command, stdout=output, stderr=output, stdin=subprocess.DEVNULL, env={**os.environ, **self._environment}
            )

    def kill(self) -> None:
        self._end(signal.SIGKILL, 10)

    def stop(self, within: float = 30) -> int:
        """SIGTERM, and the exit code."""
        return self._end(signal.SIGTERM, within)

    def wait(self, within: float = 30) -> int:
        assert self._process is not None
        return self._process.wait(within)

    def _end(self, number: int, within: float) -> int:
        assert self._process is not None
        self._process.send_signal(number)
        return self._process.wait(within)

    @property
    def text(self) -> str:
        return self.output.read_text(errors="replace")
