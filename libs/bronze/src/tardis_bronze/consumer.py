"""What a consumer does with an event: read it whole, or only look at its envelope."""

from __future__ import annotations

from google.protobuf.message import DecodeError
from msgspec import Struct

from lakehouse.bronze.v1.normalized_event_pb2 import NormalizedEvent

from .engine import scan_head
from .errors import EventError
from .plan import CASE_NAMES
from .scan import scan_meta


class EventHead(Struct, frozen=True, gc=False):
    """The envelope; names as in NormalizedEvent. `data` is the event itself."""

    source: str
    exchange: str
    symbol: str
    origin: int
    case: int
    event_id: bytes
    stream_id: str
    stream_seq: int
    data: bytes

    @property
    def payload_case(self) -> str:
        """In lowerCamelCase, as options and templates write it; empty without a payload, or with one newer than this code."""
        return CASE_NAMES.get(self.case, "")

    @property
    def meta(self) -> dict[str, str]:
        """Read each time it is asked for: most consumers never do."""
        return scan_meta(self.data)


def decode(data: bytes) -> NormalizedEvent:
    """Raises EventError if the bytes are not an event."""
    try:
        return NormalizedEvent.FromString(data)
    except DecodeError as error:
        raise EventError(f"not a NormalizedEvent: {error}") from None


def peek(data: bytes) -> EventHead:
    """The envelope without the cost of the payload, which is not looked at. Raises EventError."""
    return EventHead(*scan_head(data), data)
