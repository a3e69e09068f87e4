"""NATS JetStream: a batch is published atomically where the stream allows it, else one event per key at a time.

Both keep the order within a key. Pipelining plain publishes would not: the server may refuse one message and store the next.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from itertools import count
from typing import Any

from nats.aio.client import Client
from nats.js.errors import NotFoundError

from tardis_bronze import EventHead
from tardis_jetstream import Connection, JetStreamError, Refused, Unavailable, access, find_stream, stored_already
from tardis_settings import NatsOptions
from tardis_telemetry import get_logger

from ..contract import DELIVERED, BackendError, Limits, Outcome, Status, dedup_id, key_of

log = get_logger(__name__)

ACK_TIMEOUT_S = 10.0
OPEN_TIMEOUT_S = 10.0
ATOMIC_BATCH_EVENTS = 1000  # the server's own limit
HEADER_RESERVE_BYTES = 1024  # max_payload counts headers too
_CONTAINS_REPEAT = 10201  # the answer to an atomic batch of which something is stored already


class NatsBackend:
    name = "nats"

    def __init__(self, options: NatsOptions) -> None:
        self._options = options
        self._connection = Connection(access(options.servers, options), name="tardis-publisher")
        self._subject = options.subject or ""
        self._atomic = False
        self._batch_ids = count(1)

    async def open(self) -> Limits:
        try:
            client = await asyncio.wait_for(self._connection.client(), OPEN_TIMEOUT_S)
            config = await asyncio.wait_for(self._stream_config(client), OPEN_TIMEOUT_S)
        except (JetStreamError, TimeoutError) as error:
            await self.close()
            raise BackendError(f"nats: {error or 'no answer'}") from None
        self._atomic = bool(config.get("allow_atomic"))
        max_message = config.get("max_msg_size", -1)
        payload = client.max_payload if max_message <= 0 else min(client.max_payload, max_message)
        log.info("backend is open", backend=self.name, stream=config["name"], subject=self._subject, atomic=self._atomic)
        return Limits(event_bytes=payload - HEADER_RESERVE_BYTES, batch_events=ATOMIC_BATCH_EVENTS)

    async def publish(self, events: Sequence[EventHead]) -> list[Outcome]:
        if self._atomic and len(events) > 1:
            try:
                return await self._publish_atomically(events)
            except _ContainsRepeat:
                log.debug("a part of the batch is stored already", events=len(events))
            except Unavailable as error:
                return [Outcome(Status.RETRY, str(error))] * len(events)
            except Refused as error:
                return [Outcome(Status.REFUSED, str(error))] * len(events)
        return await self._publish_in_turns(events)

    async def close(self) -> None:
        await self._connection.close()

    async def _publish_atomically(self, events: Sequence[EventHead]) -> list[Outcome]:
        """All of them or none; only the last message is answered."""
        client = await self._connection.client()
        answer = await self._connection.guarded(self._exchange(client, events), ACK_TIMEOUT_S)
        if json.loads(answer or b"{}").get("error", {}).get("err_code") == _CONTAINS_REPEAT:
            raise _ContainsRepeat
        stored_already(answer)
        return [DELIVERED] * len(events)

    async def _exchange(self, client: Client, events: Sequence[EventHead]) -> bytes:
        inbox = await client.subscribe(client.new_inbox(), max_msgs=1)
        batch = f"{id(self):x}-{next(self._batch_ids)}"
        for number, event in enumerate(events, 1):
            headers = {"Nats-Msg-Id": dedup_id(event), "Nats-Batch-Id": batch, "Nats-Batch-Sequence": str(number)}
            last = number == len(events)
            if last:
                headers["Nats-Batch-Commit"] = "1"
            await client.publish(self._subject, event.data, reply=inbox.subject if last else "", headers=headers)
        try:
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
        except Refused as error:
            return Outcome(Status.REFUSED, str(error))
        except JetStreamError as error:
            return Outcome(Status.RETRY, str(error))
        return DELIVERED

    async def _stream_config(self, client: Client) -> dict[str, Any]:
        name = self._options.stream
        if name is None:
            name = await self._find_stream()
        try:
            return await _stream_info(client, name)
        except NotFoundError:
            log.info("making the target stream", stream=name, subject=self._subject)
            await _create_stream(client, name, self._subject)
            return await _stream_info(client, name)

    async def _find_stream(self) -> str:
        try:
            return await find_stream(self._connection, self._subject)
        except Refused:
            raise Refused(f"no stream takes the subject {self._subject!r}; make one, or set nats-stream to have it made") from None


class _ContainsRepeat(Exception):
    pass


async def _api(client: Client, subject: str, body: dict[str, Any]) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads((await client.request(f"$JS.API.{subject}", json.dumps(body).encode(), timeout=5)).data)
    if error := answer.get("error"):
        if error.get("code") == 404:
            raise NotFoundError(**error)
        raise Refused(f"{error.get('description')} ({error.get('err_code')})")
    return answer


async def _stream_info(client: Client, name: str) -> dict[str, Any]:
    config: dict[str, Any] = (await _api(client, f"STREAM.INFO.{name}", {}))["config"]
    return config


async def _create_stream(client: Client, name: str, subject: str) -> None:
    # The Python client does not know allow_atomic yet, so the request is written out.
    await _api(
        client,
        f"STREAM.CREATE.{name}",
        {"name": name, "subjects": [subject], "storage": "file", "allow_atomic": True, "duplicate_window": 120_000_000_000},
    )
