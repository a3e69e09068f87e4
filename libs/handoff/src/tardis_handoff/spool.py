"""The spool folder: one log per worker, a cursor file per backend, one forwarder at a time.

logs/<log id>/00000001.seg ...   groups, written by one worker
cursors/<backend>.json           how far each log has been forwarded to that backend
forwarder.lock                   held by the forwarder
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import time
from collections.abc import Iterable, Mapping
from pathlib import Path

from tardis_telemetry import get_logger

from .errors import SpoolBusy
from .log import Fsync, SpoolLog, segment_numbers, segment_path, writer_lives
from .reader import Position

log = get_logger(__name__)


class Spool:
    def __init__(self, root: Path) -> None:
        self.root, self.logs, self.cursors = root, root / "logs", root / "cursors"
        root.mkdir(parents=True, exist_ok=True, mode=0o700)
        for folder in (self.logs, self.cursors):
            folder.mkdir(exist_ok=True, mode=0o700)

    def new_log(self, name: str, *, fsync: Fsync = "interval") -> SpoolLog:
        """Ids sort by age and never repeat, also when a clock or a process number does."""
        return SpoolLog(self.logs, f"{time.time_ns():020d}-{os.getpid()}-{name}", fsync=fsync)

    def log_ids(self) -> list[str]:
        return sorted(entry.name for entry in os.scandir(self.logs) if not entry.name.startswith("."))

    def size(self) -> int:
        total = 0
        for log_id in self.log_ids():
            for path in (self.logs / log_id).glob("*.seg"):
                try:
                    total += path.stat().st_size
                except FileNotFoundError:
                    pass
        return total

    def segments(self) -> int:
        return sum(len(segment_numbers(self.logs / log_id)) for log_id in self.log_ids())

    def load_cursor(self, backend: str) -> dict[str, Position]:
        try:
            stored = json.loads((self.cursors / f"{backend}.json").read_bytes())
            return {log_id: Position(*place) for log_id, place in stored.items()}
        except FileNotFoundError:
            return {}
        except (ValueError, TypeError, AttributeError) as error:
            # Consumers drop repeats, but a forwarder that does not start would lose everything that follows.
            log.error("cursor is not readable; the spool is forwarded from its start", backend=backend, error=str(error))
            return {}

    def save_cursor(self, backend: str, places: Mapping[str, Position]) -> None:
        path = self.cursors / f"{backend}.json"
        young = path.with_suffix(".tmp")
        young.write_text(json.dumps(places))
        young.replace(path)

    def remove_passed(self, log_id: str, reached: Position) -> None:
        """Drops the segments before `reached`."""
        folder = self.logs / log_id
        for number in segment_numbers(folder):
            if number < reached.segment:
                segment_path(folder, number).unlink()

    def remove_log(self, log_id: str) -> None:
        shutil.rmtree(self.logs / log_id)

    def sweep(self) -> None:
        """Removes what workers left that were killed before their log was born."""
        for entry in list(os.scandir(self.logs)):
            if entry.name.startswith(".") and not writer_lives(Path(entry.path)):
                shutil.rmtree(entry.path, ignore_errors=True)

    def keep_damaged(self, segment: Path) -> None:
        """A second name for a damaged segment, so that it outlives its log and somebody can look at it."""
        folder = self.root / "damaged"
        folder.mkdir(exist_ok=True, mode=0o700)
        try:
            os.link(segment, folder / f"{segment.parent.name}-{segment.name}")
        except FileExistsError:
            pass

    def claim_forwarding(self) -> int:
        """The lock of the one forwarder; held until the returned descriptor is closed."""
        fd = os.open(self.root / "forwarder.lock", os.O_CREAT | os.O_RDWR, 0o600)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(fd)
            raise SpoolBusy(f"another forwarder works on the spool {self.root}") from None
        return fd


def furthest_common(places: Iterable[Position | None]) -> Position | None:
    """What every backend has passed; None while one of them has not begun."""
    lowest: Position | None = None
    for place in places:
        if place is None:
            return None
        lowest = place if lowest is None else min(lowest, place)
    return lowest
