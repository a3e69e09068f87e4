"""Keeps the data folder below its limit by dropping what was used least recently."""

import shutil
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tardis_simulator.store import locked

# A file that is still being written belongs to someone, unless its writer died long ago.
ABANDONED_AFTER_S = 3600


@dataclass(frozen=True)
class _Unit:
    """What is dropped as a whole: a stored answer, or a day (its state is of no use without its minutes)."""

    path: Path
    used: float
    size: int

    def drop(self) -> None:
        if not self.path.is_dir():
            self.path.unlink(missing_ok=True)
            return
        with suppress(BlockingIOError), locked(self.path, wait=False):
            shutil.rmtree(self.path, ignore_errors=True)


def trim(root: Path, max_bytes: int) -> int:
    """Drop units until the rest fits; the most recently used one always stays. Returns how many went."""
    units = sorted(_units(root), key=lambda unit: unit.used)
    total = sum(unit.size for unit in units)
    dropped = 0
    for unit in units[:-1]:
        if total <= max_bytes:
            break
        unit.drop()
        total -= unit.size
        dropped += 1
    return dropped


def _units(root: Path) -> list[_Unit]:
    found = []
    for path in (*root.glob("*/minutes/*/*/"), *root.glob("*/answers/*/*")):
        try:
            used = path.stat().st_mtime
            size = sum(inner.stat().st_size for inner in path.iterdir()) if path.is_dir() else path.stat().st_size
        except FileNotFoundError:
            continue  # another process was quicker
        if path.suffix != ".tmp" or used < time.time() - ABANDONED_AFTER_S:
            found.append(_Unit(path, used, size))
    return found
