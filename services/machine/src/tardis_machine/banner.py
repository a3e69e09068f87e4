"""What one sees when everything is up."""

from __future__ import annotations

import json
from urllib.parse import quote

from .machine import Machine

VERSION = "0.1.0"


def banner(machine: Machine) -> str:
    settings = machine.settings
    port = settings.server.port
    lines = [f"tardis {VERSION}", "", f"HTTP port: {port}", ""]
    places = [("gateway", f"http://localhost:{port}", "GET /replay-normalized, /health-check, /metrics, /docs")]
    places.append(("data", settings.api_url, "made up by the simulator: 2020-02-01, the first hour" if settings.simulated else ""))
    if settings.backends:
        places.append(("queue", settings.queue_url, "embedded" if settings.handoff.embedded else ""))
        places.append(("nats", ",".join(settings.nats.servers), f"subject {settings.nats.subject}"))
        places.append(("spool", str(settings.handoff.spool_dir), "what is not in the queue yet"))
    lines += [f"  {name:9s} {place:32s} {note}".rstrip() for name, place, note in places]
    lines += ["", "Try, in another terminal:", *(f"  {command}" for command in _commands(machine))]
    return "\n".join([*lines, "", "Ctrl-C stops everything."])


def _commands(machine: Machine) -> list[str]:
    settings = machine.settings
    options = {
        "exchange": "bitmex",
        "symbols": ["XBTUSD"],
        "from": "2020-02-01",
        "to": "2020-02-01T00:10",
        "dataTypes": ["trade", "book_change"],
    }
    query = quote(json.dumps(options, separators=(",", ":")), safe="")
    commands = [f"curl -s 'http://localhost:{settings.server.port}/replay-normalized?options={query}' | head"]
    if settings.backends:
        target = f"--nats-servers {','.join(settings.nats.servers)} --nats-subject {settings.nats.subject}"
        commands.insert(0, f".venv/bin/tardis tail nats {target}")
    commands.append(f"curl -s http://localhost:{settings.server.port}/metrics | grep tardis_gateway")
    return commands
