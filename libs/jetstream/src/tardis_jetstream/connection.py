"""A connection to NATS without the client's unbounded waits.

The client's own reconnecting is off: a lost connection is seen at once, what was under way fails at once, and the next use connects
anew. So a publish either is answered on its connection or is known to be unanswered, and nothing waits in hidden buffers.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

import nats
from nats.aio.client import Client
from nats.errors import AuthorizationError, MaxPayloadError, NoRespondersError
from nats.js import JetStreamContext
from nats.js.errors import NotFoundError

from tardis_telemetry import get_logger

from .errors import Refused, Unavailable

log = get_logger(__name__)
T = TypeVar("T")

CONNECT_TIMEOUT_S = 5
CLOSE_TIMEOUT_S = 2
# Answers that will be the same next time: not enabled, too large, not found, wrong stream.
_REFUSALS = {10039, 10054, 10059, 10060, 10076}


@dataclass(frozen=True, kw_only=True)
class Access:
    """Where the server is and who we are there."""

    servers: tuple[str, ...]
    user: str | None = None
    password: str | None = field(default=None, repr=False)
    token: str | None = field(default=None, repr=False)
    creds: str | None = None

    def connect_arguments(self) -> dict[str, Any]:
        named = {"user": self.user, "password": self.password, "token": self.token, "user_credentials": self.creds}
        return {"servers": list(self.servers), **{key: value for key, value in named.items() if value}}


class Secret(Protocol):
    def get_secret_value(self) -> str: ...


class Login(Protocol):
    """The settings groups that name a NATS login all have these."""

    user: str | None
    password: Any
    token: Any
    creds: Any


def access(servers: Iterable[str], login: Login) -> Access:
    def revealed(secret: Secret | None) -> str | None:
        return secret.get_secret_value() if secret else None

    return Access(
        servers=tuple(servers),
        user=login.user,
        password=revealed(login.password),
        token=revealed(login.token),
        creds=str(login.creds) if login.creds else None,
    )


class Connection:
    """Made when it is first needed, made again when it was lost."""

    def __init__(self, access: Access, *, name: str) -> None:
        self._access, self._name = access, name
        self._client: Client | None = None
        self._gone = asyncio.Event()
        self._connecting = asyncio.Lock()

    @property
    def connected(self) -> bool:
        return self._client is not None and self._client.is_connected

    async def client(self) -> Client:
        async with self._connecting:
            if self._client is None or not self._client.is_connected:
                await self.close()
                self._client = await self._connect()
            return self._client

    async def jetstream(self) -> JetStreamContext:
        return (await self.client()).jetstream(timeout=CONNECT_TIMEOUT_S)

    async def close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            await _close(client)

    async def publish(
        self, subject: str, data: bytes, *, msg_id: str, headers: Mapping[str, str] | None = None, timeout: float = 5.0
    ) -> bool:
        """Returns when the server has stored the message; True if it had it already."""
        client = await self.client()
        request = client.request(subject, data, timeout=timeout, headers={**(headers or {}), "Nats-Msg-Id": msg_id})
        answer = await self.guarded(request, timeout)
        return stored_already(answer.data)

    async def guarded(self, call: Awaitable[T], timeout: float) -> T:
        """`call`, ended at once when the connection goes, and in any case after `timeout`; the client's errors become ours."""
        task, gone = asyncio.ensure_future(call), asyncio.ensure_future(self._gone.wait())
        try:
            await asyncio.wait({task, gone}, timeout=timeout + 1, return_when=asyncio.FIRST_COMPLETED)
            if not task.done():
                raise Unavailable("the connection to NATS was lost" if gone.done() else "NATS does not answer")
            return task.result()
        except NoRespondersError:
            raise Refused("no stream takes this subject") from None
        except NotFoundError as error:
            raise Refused(error.description or "not found") from None
        except MaxPayloadError:
            raise Refused("the message is larger than the server's max_payload") from None
        except (TimeoutError, nats.errors.Error, OSError) as error:
            raise Unavailable(_text(error)) from None
        finally:
            gone.cancel()
            if not task.done():
                task.cancel()

    async def _connect(self) -> Client:
        gone = self._gone = asyncio.Event()

        async def lost() -> None:
            gone.set()

        async def complain(error: Exception) -> None:
            log.debug("NATS connection", name=self._name, error=_text(error))

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
        except (TimeoutError, nats.errors.Error, OSError) as error:
            await _close(client)
            if isinstance(error, AuthorizationError) or "authorization" in str(error).lower():
                raise Refused("NATS refuses these credentials") from None
            raise Unavailable(f"cannot connect to NATS: {_text(error)}") from None
        log.info("connected to NATS", name=self._name, server=client.connected_url.netloc if client.connected_url else "")
        return client


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


def stored_already(answer: bytes) -> bool:
    """Reads a PubAck: whether the message was a repeat; raises if it was not stored."""
    fields = json.loads(answer)
    if error := fields.get("error"):
        text = f"{error.get('description', 'refused')} ({error.get('err_code', error.get('code'))})"
        raise (Refused if error.get("err_code") in _REFUSALS else Unavailable)(text)
    return bool(fields.get("duplicate"))


def _text(error: BaseException) -> str:
    return str(error) or type(error).__name__
