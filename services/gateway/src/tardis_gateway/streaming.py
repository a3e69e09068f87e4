"""The answer of a replay: status and type as soon as the first chunk or error is known, then chunk after chunk."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from tardis_telemetry import catalogue as metrics
from tardis_telemetry import get_logger, span

from .pool import ReplayFailed, WorkerPool
from .protocol import cut_off
from .requests import NormalizedReplay

log = get_logger(__name__)

CONTENT_TYPE = b"application/x-json-stream"


class ReplayResponse(Response):
    """An ASGI answer of its own, because it must look back: at a client that left, and at one that stopped reading."""

    def __init__(self, pool: WorkerPool, request: NormalizedReplay, *, route: str, stall_timeout_s: float) -> None:
        super().__init__()
        self._pool, self._request, self._route, self._stall_timeout_s = pool, request, route, stall_timeout_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with span("replay", exchange=self._request.exchange, request_id=self._request.request_id, route=self._route):
            await self._run(scope, receive, send)

    async def _run(self, scope: Scope, receive: Receive, send: Send) -> None:
        answering = asyncio.create_task(self._answer(send))
        leaving = asyncio.create_task(_client_left(receive))
        try:
            await asyncio.wait({answering, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if answering.done():
                answering.result()
        except TimeoutError:
            log.warning("client reads nothing and is cut off", route=self._route, request_id=self._request.request_id)
            cut_off(scope)
            await leaving  # uvicorn takes an unfinished response for an error until it knows that the client is gone
        finally:
            for task in (answering, leaving):
                task.cancel()
            await asyncio.gather(answering, leaving, return_exceptions=True)

    async def _answer(self, send: Send) -> None:
        status = 200
        metrics.GATEWAY_REPLAYS_ACTIVE.inc()
        try:
            async with self._pool.replay(self._request) as replay:
                chunks = replay.chunks()
                try:
                    first = await anext(chunks, b"")
                except ReplayFailed as failed:
                    status = failed.status
                    await _send_whole(send, failed.status, failed.body)
                    return
                await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", CONTENT_TYPE)]})
                await self._send_chunks(send, first, chunks)
                metrics.GATEWAY_REPLAY_MESSAGES.labels(self._route).inc(replay.messages)
        except ReplayFailed as failed:  # no worker took it
            status = failed.status
            await _send_whole(send, failed.status, failed.body)
        finally:
            metrics.GATEWAY_REPLAYS_ACTIVE.dec()
            metrics.GATEWAY_HTTP_REQUESTS.labels(self._route, str(status)).inc()

    async def _send_chunks(self, send: Send, first: bytes, chunks: AsyncIterator[bytes]) -> None:
        try:
            await self._send_body(send, first)
            async for chunk in chunks:
                await self._send_body(send, chunk)
        except ReplayFailed as failed:  # the status is out already: the error is the last line
            await self._send_body(send, failed.body)
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _send_body(self, send: Send, body: bytes) -> None:
        """Returns when the client has taken it, or enough of it; raises TimeoutError when it takes nothing for too long."""
        if not body:
            return
        async with asyncio.timeout(self._stall_timeout_s):
            await send({"type": "http.response.body", "body": body, "more_body": True})
        metrics.GATEWAY_REPLAY_CHUNKS.labels(self._route).inc()
        metrics.GATEWAY_RESPONSE_BYTES.labels(self._route).inc(len(body))


async def _send_whole(send: Send, status: int, body: bytes) -> None:
    headers = [(b"content-type", CONTENT_TYPE), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def _client_left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
