"""What can go wrong with bytes that came from elsewhere.

BronzeError
├── PackError     a pack that cannot be trusted: nothing of it is used
└── EventError    one event that is not a NormalizedEvent
"""

from __future__ import annotations


class BronzeError(ValueError):
    """Base of all errors of this package; a ValueError because the input is at fault, never the moment: trying again is no use."""


class PackError(BronzeError):
    """`position` is the byte in the pack, or in its decompressed body where the reason says so."""

    def __init__(self, reason: str, position: int) -> None:
        super().__init__(f"{reason} (at byte {position})")
        self.reason = reason
        self.position = position


class EventError(BronzeError):
    """Bytes that are not an event of ours."""
