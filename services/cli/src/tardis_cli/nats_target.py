"""Reading what the NATS backend has written."""

from __future__ import annotations

from collections.abc import AsyncIterator

import nats.errors
from nats.js.api import ConsumerConfig, DeliverPolicy
from nats.js.errors import NotFoundError

from tardis_jetstream import Connection, Refused, Unavailable, access
from tardis_settings import NatsOptions


async def read_nats(options: NatsOptions, from_start: bool) -> AsyncIterator[bytes]:
    """Events in the order of the stream, without end. The consumer is ephemeral and leaves nothing behind."""
    connection = Connection(access(options.servers, options), name="tardis-tail")
    subject = options.subject or ""
    policy = DeliverPolicy.ALL if from_start else DeliverPolicy.NEW
    try:
        js = await connection.jetstream()
        try:
            subscription = await js.subscribe(
                subject, stream=options.stream, ordered_consumer=True, config=ConsumerConfig(deliver_policy=policy)
            )
        except NotFoundError:
            raise Refused(f"no stream takes the subject {subject!r}") from None
        while True:
            try:
                message = await subscription.next_msg(timeout=5)
            except (TimeoutError, nats.errors.TimeoutError):
                if not connection.connected:
                    raise Unavailable("the connection was lost") from None
                continue
            except nats.errors.Error as error:
                raise Unavailable(str(error)) from None
            yield message.data
    finally:
        await connection.close()
