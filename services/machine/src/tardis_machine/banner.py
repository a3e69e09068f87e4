"""What one sees when everything is up."""

from __future__ import annotations

import json
import shlex
from urllib.parse import quote

from tardis_settings.masking import mask_credentials

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
        places += [("nats", server, f"subject {settings.nats.subject}") for server in settings.nats.servers]
        places.append(("spool", str(settings.handoff.spool_dir), "what is not in the queue yet"))
    lines += [f"  {name:9s} {mask_credentials(place):32s} {note}".rstrip() for name, place, note in places]
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
        servers = ",".join(_without_credentials(server) for server in settings.nats.servers)
        target = f"--nats-servers {shlex.quote(servers)} --nats-subject {shlex.quote(settings.nats.subject or '')}"
        commands.insert(0, f".venv/bin/tardis tail nats {target}")
    commands.append(f"curl -s http://localhost:{settings.server.port}/metrics | grep tardis_gateway")
    return commands


def _without_credentials(url: str) -> str:
    """Command lines are seen by everyone on the machine: TM_NATS_USER and TM_NATS_PASS_FILE are the place for them."""
    scheme, _, rest = url.partition("://")
    return f"{scheme}://{rest.rpartition('@')[2]}"
