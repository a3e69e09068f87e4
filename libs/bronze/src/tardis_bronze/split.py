"""Length-delimited events back to single ones, in plain Python."""

from __future__ import annotations

from .errors import PackError
from .wire import read_varint


def split(data: bytes) -> list[bytes]:
    """Raises PackError where a length does not lead to the next event; the position is in `data`."""
    events = []
    at, end = 0, len(data)
    while at < end:
        begin = at
        try:
            size, at = read_varint(data, at)
        except (IndexError, ValueError):
            raise PackError("the length of an event is cut off or malformed", begin) from None
        if size > end - at:
            raise PackError(f"an event of {size} bytes runs past the end of the body", begin)
        events.append(data[at : at + size])
        at += size
    return events
