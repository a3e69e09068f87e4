"""How the gateway and its workers talk: small typed messages with an optional payload, over one socket per worker."""

from __future__ import annotations

import asyncio
import struct
from typing import Any, Generic, TypeVar

import msgspec

from tardis_telemetry.children import Sample, own_samples

_SIZES = struct.Struct("<II")
MAX_HEAD_BYTES = 4 << 20
MAX_PAYLOAD_BYTES = 512 << 20
COUNTS_S = 1.0


class Start(msgspec.Struct, tag=True):
    """Run this replay; it may send `credit` chunks before it has to wait."""

    replay: int
    request: bytes  # a NormalizedReplay, as JSON
    credit: int


class Credit(msgspec.Struct, tag=True):
    """One more chunk may be sent."""

    replay: int


class Cancel(msgspec.Struct, tag=True):
    replay: int


class Chunk(msgspec.Struct, tag=True):
    """A piece of the answer is the payload."""

    replay: int
    messages: int


class Finished(msgspec.Struct, tag=True):
    replay: int


class Failed(msgspec.Struct, tag=True):
    """The body for the client is the payload."""

    replay: int
    status: int


class Counted(msgspec.Struct, tag=True):
    """What the process has counted so far, for the gateway's /metrics."""

    samples: list[Sample]


class Drain(msgspec.Struct, tag=True):
    """Bring what is on disk to the queue, then end."""


ToWorker = Start | Credit | Cancel
FromWorker = Chunk | Finished | Failed | Counted
ToForwarder = Drain
FromForwarder = Counted
In = TypeVar("In")
Out = TypeVar("Out")


class Channel(Generic[In, Out]):
    """One end. `receive` returns None when the other end is gone."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, incoming: object) -> None:
        self._reader, self._writer = reader, writer
        self._decode = msgspec.msgpack.Decoder(incoming).decode
        self._encode = msgspec.msgpack.Encoder().encode

    def send(self, message: Out, payload: bytes = b"") -> None:
        head = self._encode(message)
        self._writer.write(_SIZES.pack(len(head), len(payload)) + head)
        if payload:
            self._writer.write(payload)

    async def receive(self) -> tuple[In, bytes] | None:
        try:
            head_size, payload_size = _SIZES.unpack(await self._reader.readexactly(_SIZES.size))
            if head_size > MAX_HEAD_BYTES or payload_size > MAX_PAYLOAD_BYTES:
                raise ValueError(f"a message of {head_size} + {payload_size} bytes is over the limit")
            head = await self._reader.readexactly(head_size)
            payload = await self._reader.readexactly(payload_size) if payload_size else b""
        except (asyncio.IncompleteReadError, ConnectionError):
            return None
        message: In = self._decode(head)
        return message, payload

    def close(self) -> None:
        self._writer.close()


async def send_counts(channel: Channel[Any, Any]) -> None:
    while True:
        channel.send(Counted(own_samples()))
        await asyncio.sleep(COUNTS_S)
