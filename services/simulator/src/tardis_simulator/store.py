"""Generated minutes on disk, with the state to go on from.

A day is a folder: a zstd frame per minute, its tags, and the state after the last minute. All files appear by rename and
generation holds a file lock, so any number of processes may share a store.
"""

import fcntl
import json
import os
from array import array
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import zstandard

from tardis_simulator.feeds import Feed, Minute
from tardis_simulator.recipe import Recipe

ZSTD_LEVEL = 3


def write_file(path: Path, content: bytes) -> None:
    """All or nothing, also for readers in other processes."""
    unfinished = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    unfinished.write_bytes(content)
    unfinished.replace(path)


@dataclass(frozen=True)
class MinuteStore:
    root: Path
    recipe: Recipe

    def has(self, exchange: str, day: date, minute: int) -> bool:
        return self._path(exchange, day, minute).exists()

    def frame(self, exchange: str, day: date, minute: int) -> bytes:
        """The minute as one zstd frame."""
        path = self._path(exchange, day, minute)
        os.utime(path.parent)  # retention goes by the folder's time of last use
        return path.read_bytes()

    def minute(self, exchange: str, day: date, minute: int) -> Minute:
        text = zstandard.decompress(self.frame(exchange, day, minute))
        tags = array("H")
        tags.frombytes(zstandard.decompress(self._path(exchange, day, minute).with_suffix(".tags").read_bytes()))
        return Minute(text, tags)

    def generate_next(self, exchange: str, day: date, wanted: int) -> None:
        """Generate one more minute of a day, unless `wanted` is there by now."""
        folder = self._folder(exchange, day)
        folder.parent.mkdir(parents=True, exist_ok=True)
        with locked(folder):
            folder.mkdir(exist_ok=True)
            if self.has(exchange, day, wanted):
                return
            feed, number = self._resume(exchange, day)
            minute = self.recipe.next_minute(feed, day, number)
            path = self._path(exchange, day, number)
            write_file(path.with_suffix(".tags"), zstandard.compress(minute.tags.tobytes(), ZSTD_LEVEL))
            write_file(path, zstandard.compress(minute.text, ZSTD_LEVEL))
            state = json.dumps({"next": number + 1, "feed": feed.checkpoint()})
            write_file(folder / "state", zstandard.compress(state.encode(), 1))

    def _resume(self, exchange: str, day: date) -> tuple[Feed, int]:
        feed = self.recipe.start(exchange, day)
        try:
            saved = json.loads(zstandard.decompress((self._folder(exchange, day) / "state").read_bytes()))
            number = int(saved["next"])
            if all(self.has(exchange, day, earlier) for earlier in range(number)):
                feed.restore(saved["feed"])
                return feed, number
        except (OSError, ValueError, KeyError, TypeError, zstandard.ZstdError):
            pass  # no state or a damaged one: the day begins again and comes out the same
        return self.recipe.start(exchange, day), 0

    def _folder(self, exchange: str, day: date) -> Path:
        return self.root / self.recipe.key / "minutes" / exchange / day.isoformat()

    def _path(self, exchange: str, day: date, minute: int) -> Path:
        return self._folder(exchange, day) / f"{minute:04d}.zst"


@contextmanager
def locked(folder: Path, *, wait: bool = True) -> Iterator[None]:
    """The right to change a day's folder; without waiting, BlockingIOError if someone else has it."""
    with folder.with_suffix(".lock").open("wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
