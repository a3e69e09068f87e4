"""A spool log: the append-only segments that one worker writes.

The log's folder appears under its final name only when its lock is held and its first segment exists, so that a reader never
mistakes a young log for one whose writer has died.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from tardis_telemetry import catalogue as metrics

from .segment import LanePack, encode_group, segment_head

SEGMENT_BYTES = 64 << 20
FSYNC_INTERVAL_S = 1.0
LOCK_NAME = "writer.lock"

Fsync = Literal["never", "interval", "always"]


def segment_path(folder: Path, number: int) -> Path:
    return folder / f"{number:08d}.seg"


def segment_numbers(folder: Path) -> list[int]:
    return sorted(int(path.stem) for path in folder.glob("*.seg"))


class SpoolLog:
    """Appends groups. Not shared between processes or threads."""

    def __init__(self, logs: Path, log_id: str, *, fsync: Fsync = "interval", segment_bytes: int = SEGMENT_BYTES) -> None:
        self.folder, self._fsync, self._segment_bytes = logs / log_id, fsync, segment_bytes
        self._number, self._size, self._synced_at = 0, 0, time.monotonic()
        young = logs / f".{log_id}"
        young.mkdir(parents=True)
        self._lock = os.open(young / LOCK_NAME, os.O_CREAT | os.O_RDWR, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        self._fd = self._open_segment(young)
        young.rename(self.folder)

    def append(self, packs: Sequence[LanePack]) -> None:
        """Returns when the group is in the file (and on the disk, with fsync=always)."""
        data = encode_group(packs)
        if self._size + len(data) > self._segment_bytes and self._size > len(segment_head()):
            self._sync()
            full, self._fd = self._fd, self._open_segment(self.folder)
            os.close(full)
        _write_all(self._fd, data)
        self._size += len(data)
        metrics.SPOOL_APPENDED_BYTES.inc(len(data))
        metrics.SPOOL_GROUPS.inc()
        if self._fsync == "always" or (self._fsync == "interval" and time.monotonic() - self._synced_at > FSYNC_INTERVAL_S):
            self._sync()

    def close(self) -> None:
        self._sync()
        os.close(self._fd)
        os.close(self._lock)

    def _sync(self) -> None:
        if self._fsync != "never":
            os.fdatasync(self._fd)
            self._synced_at = time.monotonic()

    def _open_segment(self, folder: Path) -> int:
        """If this fails, the segment that is open stays the one to write to."""
        path = segment_path(folder, self._number + 1)
        fd = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_APPEND, 0o600)
        try:
            _write_all(fd, segment_head())
        except OSError:
            os.close(fd)
            path.unlink()
            raise
        self._number += 1
        self._size = len(segment_head())
        return fd


def _write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def writer_lives(folder: Path) -> bool:
    """A writer holds the lock for as long as its process runs; the kernel lets go of it however the process ends."""
    try:
        fd = os.open(folder / LOCK_NAME, os.O_RDWR)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    else:
        return False
    finally:
        os.close(fd)
