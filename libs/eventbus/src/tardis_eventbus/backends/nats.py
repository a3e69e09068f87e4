"""NATS JetStream: a batch is published atomically where the stream allows it, else one event per key at a time.

Both keep the order within a key. Pipelining plain publishes would not: the server may refuse one message and store the next.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from itertools import count
from typing import Any
from uuid import uuid4

from nats.aio.client import Client

from tardis_bronze import EventHead
from tardis_jetstream import Connection, JetStreamError, TooLarge, access, publish_answer
from tardis_settings import NatsOptions
from tardis_telemetry import get_logger

from ..contract import DELIVERED, BackendError, Limits, Outcome, Status, dedup_id, key_of
from .nats_stream import target_stream

log = get_logger(__name__)

ACK_TIMEOUT_S = 10.0
OPEN_TIMEOUT_S = 10.0
ATOMIC_BATCH_EVENTS = 1000  # the server's own limit
HEADER_RESERVE_BYTES = 1024  # max_payload counts headers too


class NatsBackend:
    name = "nats"

    def __init__(self, options: NatsOptions) -> None:
        self._options = options
        self._connection = Connection(access(options.servers, options), name="tardis-publisher")
        self._subject = options.subject or ""
        self._atomic = False
        # The server joins messages to a batch by its id alone, whoever sends them.
        self._batch_prefix, self._batch_numbers = uuid4().hex, count(1)

    async def open(self) -> Limits:
        try:
            async with asyncio.timeout(OPEN_TIMEOUT_S):
                client = await self._connection.client()
                config = await target_stream(self._connection, self._options)
        except (JetStreamError, TimeoutError) as error:
            await self.close()
            raise BackendError(f"nats: {str(error) or 'no answer'}") from None
        self._atomic = bool(config.get("allow_atomic"))
        max_message = config.get("max_msg_size", -1)
        payload = client.max_payload if max_message <= 0 else min(client.max_payload, max_message)
        log.info("backend is open", backend=self.name, stream=config["name"], subject=self._subject, atomic=self._atomic)
        return Limits(event_bytes=payload - HEADER_RESERVE_BYTES, batch_events=ATOMIC_BATCH_EVENTS)

    async def publish(self, events: Sequence[EventHead]) -> list[Outcome]:
        if self._atomic and len(events) > 1:
            try:
                return await self._publish_atomically(events)
            except (_NotAsBatch, TooLarge) as error:
                log.debug("not stored as one batch; going on event by event", events=len(events), error=str(error))
            except JetStreamError as error:
                return [Outcome(Status.RETRY, str(error))] * len(events)
        return await self._publish_in_turns(events)

    async def close(self) -> None:
        await self._connection.close()

    async def _publish_atomically(self, events: Sequence[EventHead]) -> list[Outcome]:
        """All of them or none; only the last message is answered."""
        client = await self._connection.client()
        answer = await self._connection.guarded(self._exchange(client, events), ACK_TIMEOUT_S)
        # A part may be stored already, or the stream may not take one of them: alone, each gets an answer of its own.
        if error := publish_answer(answer).get("error"):
            raise _NotAsBatch(_text(error))
        return [DELIVERED] * len(events)

    async def _exchange(self, client: Client, events: Sequence[EventHead]) -> bytes:
        inbox = await client.subscribe(client.new_inbox(), max_msgs=1)
        batch = f"{self._batch_prefix}-{next(self._batch_numbers)}"
        try:
            for number, event in enumerate(events, 1):
                headers = {"Nats-Msg-Id": dedup_id(event), "Nats-Batch-Id": batch, "Nats-Batch-Sequence": str(number)}
                last = number == len(events)
                if last:
                    headers["Nats-Batch-Commit"] = "1"
                await client.publish(self._subject, event.data, reply=inbox.subject if last else "", headers=headers)
            return bytes((await inbox.next_msg(timeout=ACK_TIMEOUT_S)).data)
        finally:
            if client.is_connected:
                await inbox.unsubscribe()

    async def _publish_in_turns(self, events: Sequence[EventHead]) -> list[Outcome]:
        """Keys side by side, the events of a key one after the other, none behind a failed one."""
        outcomes: list[Outcome] = [Outcome(Status.RETRY, "an earlier event of the key failed")] * len(events)
        by_key: dict[tuple[str, str], list[int]] = {}
        for place, event in enumerate(events):
            by_key.setdefault(key_of(event), []).append(place)

        async def one_key(places: list[int]) -> None:
            for place in places:
                outcomes[place] = await self._publish_one(events[place])
                if outcomes[place].status is Status.RETRY:
                    return

        await asyncio.gather(*(one_key(places) for places in by_key.values()))
        return outcomes

    async def _publish_one(self, event: EventHead) -> Outcome:
        try:
            await self._connection.publish(self._subject, event.data, msg_id=dedup_id(event))
        except TooLarge as error:
            return Outcome(Status.REFUSED, str(error))
        except JetStreamError as error:
            return Outcome(Status.RETRY, str(error))
        return DELIVERED


class _NotAsBatch(Exception):
    """The server has answered, and has stored nothing of the batch."""


def _text(error: dict[str, Any]) -> str:
    return f"{error.get('description')} ({error.get('err_code')})"
