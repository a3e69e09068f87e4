"""What a backend does not take, kept in a stream of the queue with the reason.

The body is always a pack: an event as a pack of one, so that it is compressed and one reader reads all; an undecodable pack as it
came. What is too large even so leaves a letter without a body that says what it was.
"""

from __future__ import annotations

import hashlib

from tardis_bronze import EventHead, LaneEvents, write_pack
from tardis_bronze.wire import sized
from tardis_handoff import dead_letter_subject
from tardis_jetstream import Connection, TooLarge
from tardis_telemetry import catalogue as metrics
from tardis_telemetry import get_logger

log = get_logger(__name__)

HEADER_CHARACTERS = 200
COMPRESSION_LEVEL = 9  # letters are rare, and smaller ones fit


class DeadLetters:
    def __init__(self, queue: Connection, backend: str, lane: int) -> None:
        self._queue, self._backend, self._lane = queue, backend, lane

    async def bury_event(self, event: EventHead, reason: str) -> None:
        head = {
            "Tardis-Exchange": event.exchange,
            "Tardis-Symbol": event.symbol,
            "Tardis-Event-Id": event.event_id.hex(),
            "Tardis-Stream-Id": event.stream_id,
            "Tardis-Stream-Seq": str(event.stream_seq),
        }
        await self._bury_bytes(event.data, head, "refused", reason)

    async def bury_malformed(self, data: bytes, reason: str) -> None:
        """An element of a sound pack that is not an event."""
        await self._bury_bytes(data, {}, "malformed", reason)

    async def bury_pack(self, data: bytes, kind: str, reason: str) -> None:
        await self._store(data, data, {}, kind, reason)
        metrics.PUBLISHER_PACKS_DEAD_LETTERED.labels(self._backend, kind).inc()

    async def _bury_bytes(self, data: bytes, head: dict[str, str], kind: str, reason: str) -> None:
        pack = write_pack(LaneEvents(self._lane, 1, sized(data)), COMPRESSION_LEVEL)
        await self._store(data, pack, head, kind, reason)
        metrics.PUBLISHER_EVENTS_DEAD_LETTERED.labels(self._backend, kind).inc()

    async def _store(self, data: bytes, body: bytes, head: dict[str, str], kind: str, reason: str) -> None:
        digest = hashlib.sha256(data).hexdigest()
        where = {"backend": self._backend, "lane": self._lane, "sha256": digest}
        log.error("set aside as a dead letter", **where, kind=kind, reason=reason)
        described = {
            "Tardis-Kind": kind,
            "Tardis-Reason": reason,
            "Tardis-Lane": str(self._lane),
            "Tardis-Bytes": str(len(data)),
            "Tardis-Sha256": digest,
            **head,
        }
        headers = {name: _one_line(value) for name, value in described.items()}
        subject = dead_letter_subject(self._backend)
        try:
            await self._queue.publish(subject, body, msg_id=digest, headers=headers)
        except TooLarge as error:
            log.error("dead letter keeps only the description", **where, bytes=len(data), error=str(error))
            await self._queue.publish(subject, b"", msg_id=digest, headers=headers)


def _one_line(text: str) -> str:
    """What came from elsewhere must not end a header, nor fill the message."""
    return " ".join(text.split()).encode("ascii", "backslashreplace").decode()[:HEADER_CHARACTERS]
