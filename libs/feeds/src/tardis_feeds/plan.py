"""Which slices a range needs, and what each is called at the vendor and in the cache."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

Filters = Sequence[Mapping[str, Any]]


class SliceKey(NamedTuple):
    """One minute of an exchange's messages, filtered."""

    exchange: str
    filters: str  # JSON
    start: datetime  # of the whole range: the vendor counts minutes from it
    offset: int

    def __str__(self) -> str:
        return f"{self.exchange} {self.minute:%Y-%m-%dT%H:%M}"

    @property
    def minute(self) -> datetime:
        return self.start + timedelta(minutes=self.offset)

    def url(self, api: str) -> str:
        start = self.start.strftime("%Y-%m-%dT%H:%M:%S.000Z")
        query = f"from={start}&offset={self.offset}&compression=zstd-multiframe"
        filters = f"&filters={quote(self.filters, safe='')}" if self.filters != "[]" else ""
        return f"{api}/data-feeds/{self.exchange}?{query}{filters}"

    def path(self, cache: Path) -> Path:
        shelf = hashlib.sha256(self.filters.encode()).hexdigest()[:32]
        return cache / "feeds" / self.exchange / shelf / self.minute.strftime("%Y/%m/%d/%H/%M")


def plan_slices(exchange: str, filters: Filters, start: datetime, end: datetime) -> Iterator[SliceKey]:
    """The whole minutes of [start, end)."""
    first = start.astimezone(UTC).replace(second=0, microsecond=0)
    minutes = int((end.astimezone(UTC).replace(second=0, microsecond=0) - first).total_seconds() // 60)
    text = json.dumps(list(filters), separators=(",", ":"))
    return (SliceKey(exchange, text, first, offset) for offset in range(minutes))
