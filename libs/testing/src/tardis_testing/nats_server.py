"""A NATS server with JetStream; it keeps its port and its data over restarts."""

from __future__ import annotations

import socket
import sys
from pathlib import Path

from .processes import Program, free_port, wait_until


class NatsServer(Program):
    def __init__(self, folder: Path, *arguments: str, port: int | None = None) -> None:
        self.port = port or free_port()
        binary = Path(sys.executable).with_name("nats-server")
        address = ["-a", "127.0.0.1", "-p", str(self.port)]
        super().__init__([str(binary), *address, "-js", "-sd", str(folder), *arguments], folder / "nats.log")

    @property
    def url(self) -> str:
        return f"nats://127.0.0.1:{self.port}"

    def start(self) -> None:
        super().start()
        wait_until(self._answers, what="NATS server is up")

    def _answers(self) -> bool:
        """JetStream is recovered before the server greets."""
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=1) as client:
                return client.recv(4) == b"INFO"
        except OSError:
            return False
