"""What every process takes, and what the server takes beside it."""

import os
import tempfile
from pathlib import Path
from typing import Literal

from pydantic import SecretStr

from tardis_settings.kinds import ContractSwitch, HttpUrl, NamedPath
from tardis_settings.options import Options, setting


def _cores() -> int:
    """Cores this process may use: containers are often given fewer than the machine has."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


class ProcessOptions(Options):
    """Every process."""

    config: NamedPath | None = setting(None, "YAML or TOML file with settings.")
    log_format: Literal["text", "json"] = setting("text", "Form of the log lines on stderr.")
    log_level: Literal["debug", "info", "warning", "error"] = setting("info", "Least severe level that is logged.")
    otlp_endpoint: HttpUrl | None = setting(
        None, "OpenTelemetry collector (OTLP over HTTP); without it there are no traces.", allowed="http(s) URL"
    )


class ServerOptions(ProcessOptions):
    """Server."""

    port: int = setting(8000, "HTTP port; WebSocket listens on the next one. `PORT` in the environment wins.", ge=1, le=65534)
    api_key: SecretStr | None = setting(None, "Key of the market data API; without it only the first day of each month is served.")
    cache_dir: NamedPath = setting(
        default_factory=lambda: Path(tempfile.gettempdir(), ".tardis-cache"),
        shown_default="<tmp>/.tardis-cache",
        meaning="Folder of the cached slices.",
    )
    clear_cache: ContractSwitch = setting(False, "Empty the cache at start.")
    cluster_mode: ContractSwitch = setting(
        False, "Accepted for existing scripts: requests are always spread over the worker processes."
    )
    debug: ContractSwitch = setting(False, "Log everything, as log-level debug.")
    api_url: HttpUrl = setting("https://api.tardis.dev/v1", "Address of the market data API.", allowed="http(s) URL")
    workers: int = setting(
        default_factory=_cores, shown_default="number of cores", meaning="Worker processes that run the replays.", ge=1, le=1024
    )
    drain_timeout_s: float = setting(10, "Seconds that running responses get to finish after SIGTERM.", ge=0)
    client_stall_timeout_s: float = setting(60, "Seconds after which a client that reads nothing is cut.", gt=0)
