"""The whole road as separate processes: simulator, queue, gateway, publisher; each can be killed and started again."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Self
from urllib.parse import quote

from .nats_server import NatsServer
from .processes import Program, free_port, wait_until

LANES = 4
SUBJECT = "market.bronze"


class Road:
    """NATS is both the queue and the target here, as with `make run`."""

    def __init__(self, folder: Path, *, rate: int = 3000, workers: int = 1, settings: Mapping[str, str] | None = None) -> None:
        self.folder, self._stack = folder, ExitStack()
        self.nats = NatsServer(folder / "nats")
        simulator_port, self.port = free_port(), free_port()
        self._simulator_url = f"http://127.0.0.1:{simulator_port}"
        self.environment = {
            "TM_PORT": str(self.port),
            "TM_WORKERS": str(workers),
            "TM_API_URL": f"{self._simulator_url}/v1",
            "TM_CACHE_DIR": str(folder / "cache"),
            "TM_HANDOFF_URL": self.nats.url,
            "TM_HANDOFF_BACKENDS": "nats",
            "TM_HANDOFF_LANES": str(LANES),
            "TM_HANDOFF_SPOOL_DIR": str(folder / "spool"),
            "TM_HANDOFF_STREAM_MAX_BYTES": "256MiB",
            "TM_PRODUCER_ID": "test",
            "TM_NATS_SERVERS": self.nats.url,
            "TM_NATS_SUBJECT": SUBJECT,
            "TM_NATS_STREAM": "MARKET",
            "TM_SIMULATOR_PORT": str(simulator_port),
            "TM_SIMULATOR_RATE": str(rate),
            "TM_SIMULATOR_DATA_DIR": str(folder / "simulator"),
            **(settings or {}),
        }
        self.simulator = self._program("tardis_simulator")
        self.gateway = self._program("tardis_gateway")
        self.publisher = self._program("tardis_publisher", "nats")

    def __enter__(self) -> Self:
        try:
            self._stack.enter_context(self.nats)
            self.tool("provision", "--handoff-url", self.nats.url, "--handoff-backends", "nats", "--handoff-lanes", str(LANES))
            for program in (self.simulator, self.gateway, self.publisher):
                self._stack.enter_context(program)
            wait_until(lambda: answers(self._simulator_url, "/ready"), within=60, what="simulator is ready")
            self.wait_for_gateway()
        except BaseException:
            self._stack.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def wait_for_gateway(self) -> None:
        wait_until(lambda: answers(f"http://127.0.0.1:{self.port}", "/ready"), within=60, what="gateway is ready")

    def tool(self, *words: str) -> subprocess.CompletedProcess[str]:
        """`tardis …`, which must succeed."""
        command = [sys.executable, "-m", "tardis_cli", *words]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stderr
        return done

    def replay(self, **options: Any) -> Iterator[bytes]:
        """The body of /replay-normalized, in pieces as they come. Ends early if the gateway does."""
        wanted = {
            "exchange": "bitmex",
            "from": "2020-02-01",
            "to": "2020-02-01T00:02",
            "dataTypes": ["trade", "book_change"],
            **options,
        }
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request("GET", f"/replay-normalized?options={quote(json.dumps(wanted))}")
            response = connection.getresponse()
            assert response.status == 200, response.read()
            while piece := response.read1(1 << 16):
                yield piece
        except (http.client.HTTPException, OSError):
            return
        finally:
            connection.close()

    def kill(self, name: str) -> None:
        """kill -9; what nobody supervises is started again."""
        if name in ("worker", "forwarder"):
            os.kill(self._child(f"{'writer' if name == 'worker' else name}.lock"), signal.SIGKILL)
        else:
            program: Program = getattr(self, name)
            program.kill()
            program.start()

    def _child(self, lock: str) -> int:
        """The gateway's child that has this lock file of the spool open."""
        for pid in subprocess.run(
            ["pgrep", "-P", str(self.gateway.pid)], capture_output=True, text=True, check=True
        ).stdout.split():
            for entry in Path(f"/proc/{pid}/fd").iterdir():
                if os.path.realpath(entry).endswith(lock):
                    return int(pid)
        raise AssertionError(f"no child of the gateway holds {lock}")

    def _program(self, module: str, *words: str) -> Program:
        return Program([sys.executable, "-m", module, *words], self.folder / f"{module}.log", self.environment)


def answers(url: str, path: str) -> bool:
    host, _, port = url.removeprefix("http://").partition(":")
    connection = http.client.HTTPConnection(host, int(port), timeout=2)
    try:
        connection.request("GET", path)
        return connection.getresponse().status == 200
    except OSError:
        return False
    finally:
        connection.close()
