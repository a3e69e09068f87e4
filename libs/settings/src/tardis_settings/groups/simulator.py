"""The stand-in for the vendor's market data API."""

import tempfile
from pathlib import Path
from typing import Literal

from pydantic import ByteSize, SecretStr

from tardis_settings.kinds import NamedPath
from tardis_settings.options import Options, setting


class SimulatorOptions(Options, prefix="simulator"):
    """Simulator.

    `classic` data depends on seed, rate and disconnect-every only and never changes between releases; `scaled` data has as
    many symbols as wanted. Minutes of a day at and after max-minutes are empty.
    """

    mode: Literal["classic", "scaled"] = setting("classic", "Which data is made up.")
    host: str = setting("127.0.0.1", "Address to listen on.", min_length=1)
    port: int = setting(9000, "Port to listen on.", ge=1, le=65535)
    seed: str = setting("1", "Same seed, same data.", min_length=1, max_length=64)
    rate: int = setting(60_000, "Messages per minute and exchange.", ge=1, le=10_000_000)
    symbols: int = setting(3, "Symbols per exchange in mode scaled.", ge=1, le=5_000)
    disconnect_every: int = setting(7, "A disconnect in every Nth minute; 0 for none.", ge=0)
    max_minutes: int = setting(60, "Minutes of data per day.", ge=0, le=1440)
    data_dir: NamedPath = setting(
        default_factory=lambda: Path(tempfile.gettempdir(), ".tardis-simulator"),
        shown_default="<tmp>/.tardis-simulator",
        meaning="Folder of the generated minutes.",
    )
    data_max_bytes: ByteSize = setting(
        ByteSize(8 * 1024**3), "Size limit of that folder; what was used least recently goes first.", ge=1024**2
    )
    overlay: NamedPath | None = setting(
        None, "Folder with recorded minutes, `{exchange}/{YYYY-MM-DDTHH-MM}.ndjson`, served instead of made-up ones."
    )
    api_key: SecretStr | None = setting(None, "The key that is accepted; without it any key is.")
