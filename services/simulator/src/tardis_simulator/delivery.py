"""Sends a body piece by piece, and breaks off or stalls where a fault says so."""

import asyncio
from collections.abc import AsyncIterator
from io import SEEK_END
from typing import BinaryIO

from starlette.types import Receive, Scope, Send

from tardis_simulator.faults import Fault

CHUNK = 256 * 1024


class Delivery:
    """An ASGI response for one slice."""

    def __init__(self, body: BinaryIO, headers: dict[str, str], fault: Fault | None) -> None:
        self._body = body
        self._headers = headers
        self._cut = fault.cut_after_bytes if fault else None
        self._stall = fault.stall_after_bytes if fault else None
        self._stall_s = fault.stall_s if fault and fault.stall_s else 0.0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self._body:
            length = self._body.seek(0, SEEK_END)
            self._body.seek(0)
            headers = {**self._headers, "content-length": str(length)}
            raw = [(name.encode(), value.encode()) for name, value in headers.items()]
            await send({"type": "http.response.start", "status": 200, "headers": raw})
            async for piece in self._pieces():
                await send({"type": "http.response.body", "body": piece, "more_body": True})
            if self._cut is not None and self._cut < length:
                return  # an unfinished response makes the server close the connection
            await send({"type": "http.response.body", "body": b""})

    async def _pieces(self) -> AsyncIterator[bytes]:
        position = 0
        while True:
            if position == self._stall:
                await asyncio.sleep(self._stall_s)
            stops = [stop for stop in (self._cut, self._stall) if stop is not None and stop > position]
            room = 0 if position == self._cut else min([CHUNK, *(stop - position for stop in stops)])
            piece = await asyncio.to_thread(self._body.read, room)
            if not piece:
                return
            position += len(piece)
            yield piece
