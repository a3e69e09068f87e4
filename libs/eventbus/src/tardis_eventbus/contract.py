"""What a backend is: five verbs and an honest answer per event.

A backend is opened once, publishes batches, and is drained and closed once. `publish` never raises for what happens to an event: it
answers for each one, in the order given. *Delivered* means the bus has acknowledged it. *Retry* means it may or may not be there
and should be sent again. *Refused* means that sending it again would fail again; the reason goes into the dead letter.

`publish` may be called by several lanes at the same time; events of one key always come through the same lane, and a backend must
not let a later event of a key be stored while an earlier one of the same call is not.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import NamedTuple, Protocol

from tardis_bronze import EventHead


def key_of(event: EventHead) -> tuple[str, str]:
    """Order is kept within it."""
    return event.exchange, event.symbol


def dedup_id(event: EventHead) -> str:
    """Equal for repeats of one delivery, different for a deliberate second replay."""
    return f"{event.event_id.hex()}/{event.stream_id}"


class Status(Enum):
    DELIVERED = "delivered"
    RETRY = "retry"
    REFUSED = "refused"


class Outcome(NamedTuple):
    status: Status
    reason: str = ""


DELIVERED = Outcome(Status.DELIVERED)


class Limits(NamedTuple):
    """What the bus itself told us at start-up."""

    event_bytes: int
    batch_events: int


class BackendError(Exception):
    """The backend cannot be used as configured: the message says what to change."""


class Backend(Protocol):
    name: str

    async def open(self) -> Limits:
        """Connects and checks the target; raises BackendError within ten seconds if that cannot work."""

    async def publish(self, events: Sequence[EventHead]) -> list[Outcome]:
        """One outcome per event, in order. May wait as long as the bus needs, but never without a bound."""

    async def close(self) -> None:
        """Lets go of every connection, whatever state they are in."""
