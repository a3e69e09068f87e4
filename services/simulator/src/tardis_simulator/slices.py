"""A slice is what one request asks for: some minutes of an exchange, filtered and compressed."""

import gzip
import hashlib
import json
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Literal

import zstandard

from tardis_simulator.feeds import DISCONNECT, FEEDS, Minute
from tardis_simulator.recipe import Recipe
from tardis_simulator.store import ZSTD_LEVEL, MinuteStore, write_file

GZIP_LEVEL = 6


@dataclass(frozen=True)
class Filter:
    channel: str
    symbols: tuple[str, ...]


@dataclass(frozen=True)
class Slice:
    exchange: str
    start: datetime
    size: int
    filters: tuple[Filter, ...]
    compression: Literal["gzip", "zstd"]

    @property
    def minutes(self) -> list[tuple[date, int]]:
        """Day and minute of the day of each minute."""
        times = [self.start + timedelta(minutes=i) for i in range(self.size)]
        return [(t.date(), t.hour * 60 + t.minute) for t in times]

    @property
    def key(self) -> str:
        filters = sorted((f.channel, sorted(f.symbols)) for f in self.filters)
        return hashlib.sha256(json.dumps([self.start.isoformat(), self.size, filters]).encode()).hexdigest()


@dataclass(frozen=True)
class Pantry:
    """Where the minutes of slices come from: recorded ones first, then made-up ones, none after `max_minutes` of a day."""

    store: MinuteStore
    max_minutes: int
    overlay: Path | None

    @property
    def recipe(self) -> Recipe:
        return self.store.recipe

    def has_overlay(self, exchange: str) -> bool:
        return self.overlay is not None and (self.overlay / exchange).is_dir()

    def recorded(self, exchange: str, day: date, minute: int) -> Path | None:
        if self.overlay is None:
            return None
        path = self.overlay / exchange / f"{day}T{minute // 60:02d}-{minute % 60:02d}.ndjson"
        return path if path.is_file() else None

    def generated(self, wanted: Slice) -> list[tuple[date, int]]:
        """The minutes of a slice that have to be made up."""
        if wanted.exchange not in FEEDS:
            return []
        return [(d, m) for d, m in wanted.minutes if m < self.max_minutes and not self.recorded(wanted.exchange, d, m)]

    def is_recorded(self, wanted: Slice) -> bool:
        return any(self.recorded(wanted.exchange, day, minute) for day, minute in wanted.minutes)

    def answer_path(self, wanted: Slice) -> Path:
        suffix = "zst" if wanted.compression == "zstd" else "gz"
        folder = self.store.root / self.recipe.key / "answers" / wanted.exchange
        return folder / f"{wanted.key}-{self.max_minutes}.{suffix}"

    def build(self, wanted: Slice) -> bytes:
        """The compressed body; all minutes that have to be made up must be in the store."""
        if wanted.compression == "zstd" and not wanted.filters and len(self.generated(wanted)) == wanted.size:
            return b"".join(self.store.frame(wanted.exchange, day, minute) for day, minute in wanted.minutes)
        if wanted.compression == "zstd":
            return b"".join(zstandard.compress(text, ZSTD_LEVEL) for text in self.texts(wanted))
        return gzip.compress(b"".join(self.texts(wanted)), GZIP_LEVEL, mtime=0)

    def texts(self, wanted: Slice) -> list[bytes]:
        """The filtered minutes."""
        generated = set(self.generated(wanted))
        return [self._text(wanted, day, minute, (day, minute) in generated) for day, minute in wanted.minutes]

    def build_answer(self, wanted: Slice) -> None:
        path = self.answer_path(wanted)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_file(path, self.build(wanted))

    def _text(self, wanted: Slice, day: date, minute: int, generated: bool) -> bytes:
        if recorded := self.recorded(wanted.exchange, day, minute):
            return recorded.read_bytes()
        if not generated:
            return b""
        found = self.store.minute(wanted.exchange, day, minute)
        return select(found, allowed_tags(self.recipe, wanted)) if wanted.filters else found.text


def allowed_tags(recipe: Recipe, wanted: Slice) -> set[int]:
    """Numbers of the tags that pass the filters; a disconnect always does."""
    feed = FEEDS[wanted.exchange]
    names = [symbol.name for symbol in recipe.symbols(wanted.exchange)]
    tags = feed.tags(names)
    asked = [(f.channel, {symbol.lower() for symbol in f.symbols}) for f in wanted.filters]
    passing = {
        i for i, (c, name) in enumerate(tags) for channel, some in asked if c == channel and (not some or name.lower() in some)
    }
    return passing | {DISCONNECT}


def select(minute: Minute, allowed: set[int]) -> bytes:
    lines = minute.text.split(b"\n")
    return b"".join(line + b"\n" for line, tag in zip(lines, minute.tags, strict=False) if tag in allowed)
