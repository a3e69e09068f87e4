"""A connection to NATS without the client's unbounded waits.

The client's own reconnecting is off: a lost connection is seen at once, what was under way fails at once, and the next use connects
anew. So a publish either is answered on its connection or is known to be unanswered, and nothing waits in hidden buffers.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Mapping
from typing import Any, TypeVar

import nats
from nats.aio.client import Client
from nats.errors import AuthorizationError, NoRespondersError
from nats.js import JetStreamContext
from nats.js.errors import APIError, ServiceUnavailableError

from tardis_telemetry import get_logger

from .access import Access
from .answers import stored_already, text_of, translated
from .errors import Refused, TooLarge, Unavailable

log = get_logger(__name__)
T = TypeVar("T")

CONNECT_TIMEOUT_S = 5
CLOSE_TIMEOUT_S = 2
API_TIMEOUT_S = 5


class Connection:
    """Made when it is first needed, made again when it was lost."""

    def __init__(self, access: Access, *, name: str) -> None:
        self._access, self._name = access, name
        self._client: Client | None = None
        self._gone = asyncio.Event()
        self._attempt: asyncio.Task[Client] | None = None

    @property
    def connected(self) -> bool:
        return self._client is not None and self._client.is_connected

    async def client(self) -> Client:
        """All who ask while a connection is being made wait for that one attempt and share its end."""
        if self._client is not None and self._client.is_connected:
            return self._client
        if self._attempt is None or self._attempt.done():
            self._attempt = asyncio.create_task(self._connect_anew())
            self._attempt.add_done_callback(_note_failure)
        attempt = self._attempt
        await asyncio.wait({attempt})  # unlike awaiting it, leaves the attempt to the others if we are cancelled
        if attempt.cancelled():
            raise Unavailable("the connection was closed")
        return attempt.result()

    async def jetstream(self) -> JetStreamContext:
        return (await self.client()).jetstream(timeout=API_TIMEOUT_S)

    async def close(self) -> None:
        if self._attempt is not None and not self._attempt.done():
            self._attempt.cancel()
            await asyncio.wait({self._attempt}, timeout=2 * CLOSE_TIMEOUT_S)
        await self._let_go()

    async def publish(
        self, subject: str, data: bytes, *, msg_id: str, headers: Mapping[str, str] | None = None, timeout: float = 5.0
    ) -> bool:
        """Returns when the server has stored the message; True if it had it already."""
        client = await self.client()
        headers = {**(headers or {}), "Nats-Msg-Id": msg_id}
        # The client looks at the payload alone; the server counts the headers too, and cuts the connection.
        if _header_bytes(headers) + len(data) > client.max_payload:
            raise TooLarge("the message with its headers is larger than the server's max_payload")
        answer = await self.guarded(client.request(subject, data, timeout=timeout, headers=headers), timeout)
        return stored_already(answer.data)

    async def ask(self, name: str, body: Mapping[str, object]) -> dict[str, Any]:
        """A request to the JetStream API as it stands on the wire, for what the client does not know."""
        client = await self.client()
        return await self.guarded(_ask(client, f"$JS.API.{name}", json.dumps(body).encode()), API_TIMEOUT_S)

    async def guarded(self, call: Awaitable[T], timeout: float) -> T:
        """`call`, ended at once when the connection goes, and in any case after `timeout`; the client's errors become ours."""
        task, gone = asyncio.ensure_future(call), asyncio.ensure_future(self._gone.wait())
        try:
            await asyncio.wait({task, gone}, timeout=timeout + 1, return_when=asyncio.FIRST_COMPLETED)
            if not task.done():
                raise Unavailable("the connection to NATS was lost" if gone.done() else "NATS does not answer")
            return task.result()
        except (TimeoutError, nats.errors.Error, OSError) as error:
            raise translated(error) from None
        finally:
            gone.cancel()
            if not task.done():
                task.cancel()

    async def _connect_anew(self) -> Client:
        await self._let_go()
        self._client = await self._connect()
        return self._client

    async def _let_go(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            await _close(client)

    async def _connect(self) -> Client:
        gone = self._gone = asyncio.Event()

        async def lost() -> None:
            gone.set()

        async def complain(error: Exception) -> None:
            log.debug("NATS connection", name=self._name, error=text_of(error))

        client = Client()
        try:
            await asyncio.wait_for(
                client.connect(
                    name=self._name,
                    allow_reconnect=False,
                    max_reconnect_attempts=1,  # counts for the first connect too
                    reconnect_time_wait=0,
                    connect_timeout=CONNECT_TIMEOUT_S,
                    disconnected_cb=lost,
                    closed_cb=lost,
                    error_cb=complain,
                    ping_interval=5,
                    max_outstanding_pings=2,
                    flush_timeout=CONNECT_TIMEOUT_S,
                    **self._access.connect_arguments(),
                ),
                CONNECT_TIMEOUT_S + 1,
            )
        except asyncio.CancelledError:
            await _close(client)
            raise
        except (TimeoutError, nats.errors.Error, OSError) as error:
            await _close(client)
            if isinstance(error, AuthorizationError) or "authorization" in str(error).lower():
                raise Refused("NATS refuses these credentials") from None
            raise Unavailable(f"cannot connect to NATS: {text_of(error)}") from None
        log.info("connected to NATS", name=self._name, server=_place(client))
        return client


def _note_failure(attempt: asyncio.Task[Client]) -> None:
    """Everyone who waited may have been cancelled meanwhile; the loop would complain that nobody looked."""
    if not attempt.cancelled():
        attempt.exception()


async def _ask(client: Client, subject: str, body: bytes) -> dict[str, Any]:
    try:
        message = await client.request(subject, body, timeout=API_TIMEOUT_S)
    except NoRespondersError:
        raise ServiceUnavailableError from None
    answer: dict[str, Any] = json.loads(message.data)
    if error := answer.get("error"):
        APIError.from_error(error)
    return answer


async def _close(client: Client) -> None:
    """Also one that is half open: the client leaves the socket of a failed connect behind, and may swallow being cancelled."""
    if not client.is_closed:
        closing = asyncio.ensure_future(client.close())
        await asyncio.wait({closing}, timeout=CLOSE_TIMEOUT_S)
        if not closing.done() or closing.exception():
            log.debug("connection did not close cleanly")
    transport: Any = client._transport
    if transport is not None:
        transport.close()


def _place(client: Client) -> str:
    """Never the whole address, which may hold a password."""
    url = client.connected_url
    return f"{url.hostname}:{url.port}" if url else ""


def _header_bytes(headers: Mapping[str, str]) -> int:
    frame = len("NATS/1.0\r\n") + len("\r\n")
    return frame + sum(len(key) + len(value.encode()) + len(": \r\n") for key, value in headers.items())
