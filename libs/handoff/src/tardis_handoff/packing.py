"""Encoded events of a chunk as packs that fit the queue."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tardis_bronze import LaneEvents, write_pack
from tardis_bronze.engine import split
from tardis_bronze.wire import sized

from .segment import LanePack

#: Uncompressed: well below a server's usual limit of 1 MB even where compression gains nothing.
MAX_PACK_BYTES = 700_000


def pack_lanes(lanes: Iterable[LaneEvents]) -> list[LanePack]:
    """One pack per lane, or several for a lane with more than fits."""
    return [LanePack(part.lane, part.count, write_pack(part)) for lane in lanes for part in _cut(lane)]


def _cut(lane: LaneEvents) -> Iterator[LaneEvents]:
    if len(lane.data) <= MAX_PACK_BYTES:
        yield lane
        return
    piece: list[bytes] = []
    size = 0
    for event in split(lane.data):
        if piece and size + len(event) > MAX_PACK_BYTES:
            yield LaneEvents(lane.lane, len(piece), b"".join(piece))
            piece, size = [], 0
        piece.append(sized(event))
        size += len(event)
    yield LaneEvents(lane.lane, len(piece), b"".join(piece))
