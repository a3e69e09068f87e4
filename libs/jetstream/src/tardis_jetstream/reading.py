"""Reading a stream from one end to the other, for tools and tests: every message once, in order, over lost connections."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator

from nats.aio.msg import Msg
from nats.js.api import AckPolicy, ConsumerConfig, DeliverPolicy

from .connection import Connection
from .errors import Unavailable

PAGE = 500
WAIT_S = 1.0
AWAY_S = 0.5


async def read_stream(connection: Connection, subject: str, *, from_start: bool) -> AsyncIterator[list[Msg]]:
    """Page after page, without end. The consumer is ephemeral; when it is lost, another begins behind the last message read."""
    stream = await find_stream(connection, subject)
    config = ConsumerConfig(
        filter_subject=subject,
        ack_policy=AckPolicy.NONE,
        # A place, not "what is new": a consumer lost before its first message must not begin later than the first one did.
        deliver_policy=DeliverPolicy.BY_START_SEQUENCE,
        opt_start_seq=1 if from_start else await _end_of(connection, stream) + 1,
        inactive_threshold=60,
        mem_storage=True,
    )
    while True:
        try:
            consumer = await _Consumer.open(connection, stream, config)
            while True:
                page = await consumer.next_page()
                if page:
                    yield page
                    config = config.evolve(opt_start_seq=page[-1].metadata.sequence.stream + 1)
        except Unavailable:
            await asyncio.sleep(AWAY_S)


class _Consumer:
    """Asks for a page, takes it whole, asks for the next: nothing can pile up or be dropped on our side."""

    def __init__(self, connection: Connection, subject: str, inbox: str) -> None:
        self._connection, self._subject, self._inbox = connection, subject, inbox
        self._page: list[Msg] = []
        self._end = asyncio.Event()
        self._lost = False

    @classmethod
    async def open(cls, connection: Connection, stream: str, config: ConsumerConfig) -> _Consumer:
        client, js = await connection.client(), await connection.jetstream()
        info = await connection.guarded(js.add_consumer(stream, config), 5)
        made = cls(connection, f"$JS.API.CONSUMER.MSG.NEXT.{stream}.{info.name}", client.new_inbox())
        await connection.guarded(client.subscribe(made._inbox, cb=made._take), 2)
        return made

    async def next_page(self) -> list[Msg]:
        client = await self._connection.client()
        self._page, self._end = [], asyncio.Event()
        request = json.dumps({"batch": PAGE, "expires": int(WAIT_S * 1e9)}).encode()
        await self._connection.guarded(client.publish(self._subject, request, reply=self._inbox), 2)
        await self._connection.guarded(self._end.wait(), WAIT_S + 2)
        if self._lost:
            raise Unavailable("the consumer is gone")
        return self._page

    async def _take(self, message: Msg) -> None:
        status = (message.headers or {}).get("Status")
        if status is None:
            self._page.append(message)
        self._lost = status == "503"
        if status is not None or len(self._page) == PAGE:
            self._end.set()


async def find_stream(connection: Connection, subject: str) -> str:
    js = await connection.jetstream()
    return str(await connection.guarded(js.find_stream_name_by_subject(subject), 5))


async def _end_of(connection: Connection, stream: str) -> int:
    js = await connection.jetstream()
    info = await connection.guarded(js.stream_info(stream), 5)
    return info.state.last_seq
