"""Pulling from a durable consumer, one message at a time."""

from __future__ import annotations

import json

from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription

from .connection import Connection
from .errors import Refused, Unavailable


class Delivery:
    """A message that is ours until it is acked, given back, or left alone for longer than ack_wait."""

    def __init__(self, connection: Connection, message: Msg) -> None:
        self._connection, self._message = connection, message
        self.data: bytes = message.data
        metadata = message.metadata
        self.sequence: int = metadata.sequence.stream
        self.deliveries: int = metadata.num_delivered or 1
        self.pending: int = metadata.num_pending or 0

    async def ack(self) -> None:
        await self._connection.guarded(self._message.ack_sync(timeout=2), 2)

    async def give_back(self, delay: float = 0) -> None:
        await self._connection.guarded(self._message.nak(delay=delay or None), 2)

    async def in_progress(self) -> None:
        await self._connection.guarded(self._message.in_progress(), 2)


class Puller:
    """Every pull stands alone, so a restarted server costs one wait and no subscription can go deaf."""

    def __init__(self, connection: Connection, stream: str, durable: str) -> None:
        self._connection, self._subject = connection, f"$JS.API.CONSUMER.MSG.NEXT.{stream}.{durable}"
        self._client: Client | None = None
        self._inbox: Subscription | None = None

    async def next(self, wait: float) -> Delivery | None:
        """None: nothing there, or another replica holds it."""
        client, inbox = await self._subscription()
        request = json.dumps({"batch": 1, "expires": int(wait * 1e9)}).encode()
        await self._connection.guarded(client.publish(self._subject, request, reply=inbox.subject), 2)
        try:
            message = await self._connection.guarded(inbox.next_msg(timeout=wait + 1), wait + 1)
        except Unavailable:
            if client.is_connected:  # the answer was lost on the way; the next pull asks again
                return None
            raise
        status = (message.headers or {}).get("Status")
        if status is None:
            return Delivery(self._connection, message)
        if status == "503":
            raise Refused("the stream or its consumer is missing")
        return None  # 404, 408: nothing there; 409: a limit or a lost leader, worth another pull

    async def _subscription(self) -> tuple[Client, Subscription]:
        client = await self._connection.client()
        if self._inbox is None or self._client is not client:
            self._inbox = await self._connection.guarded(client.subscribe(client.new_inbox()), 2)
            self._client = client
        return client, self._inbox
