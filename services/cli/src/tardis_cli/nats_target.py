"""Reading what the NATS backend has written."""

from __future__ import annotations

from collections.abc import AsyncIterator

from tardis_jetstream import Connection, access, read_stream
from tardis_settings import NatsOptions


async def read_nats(options: NatsOptions, from_start: bool) -> AsyncIterator[list[bytes]]:
    connection = Connection(access(options.servers, options), name="tardis-tail")
    try:
        async for page in read_stream(connection, options.subject or "", from_start=from_start):
            yield [message.data for message in page]
    finally:
        await connection.close()
