"""uvicorn's HTTP protocol with two additions: a limit for URL and headers, and a way to cut a client off at once."""

from __future__ import annotations

import socket
import struct

from starlette.types import Scope
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

MAX_HEAD_BYTES = 16 << 10
LINGER_S = 1.0
LINGER_BYTES = 1 << 20

_ABORT = "tardis.abort"
_TOO_LARGE = b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
_RESET = struct.pack("ii", 1, 0)


class GatewayProtocol(HttpToolsProtocol):
    _head_bytes = 0  # of URL and headers, as the parser hands them over
    _held_bytes = 0  # received since the parser handed anything over: an unfinished header may grow without end
    _refused = False

    def data_received(self, data: bytes) -> None:
        self._held_bytes += len(data)
        if self._refused:
            if self._held_bytes > LINGER_BYTES:
                self.transport.abort()
            return
        super().data_received(data)
        if self._held_bytes > MAX_HEAD_BYTES:
            self._refuse()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._head_bytes = self._held_bytes = 0
        self.scope["extensions"] = {_ABORT: self.abort}  # type: ignore[dict-item]

    def on_url(self, url: bytes) -> None:
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        self._count(len(name) + len(value) + len(b": \r\n"))
        super().on_header(name, value)

    def on_body(self, body: bytes) -> None:
        self._held_bytes = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._held_bytes = 0
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        if not self._refused:
            super().send_400_response(msg)

    def abort(self) -> None:
        """Closes without waiting for a client that does not read: what is buffered for it is dropped, here and in the kernel."""
        if not self.transport.is_closing():
            self.transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        self.transport.abort()

    def _count(self, size: int) -> None:
        self._held_bytes = 0
        self._head_bytes += size
        if self._head_bytes > MAX_HEAD_BYTES:
            self._refuse()
            raise ValueError("URL and headers are too large")  # ends the parser

    def _refuse(self) -> None:
        """Goes on reading for a moment: a socket closed with unread bytes is reset, and the client would not see the answer."""
        if self._refused or self.transport.is_closing():
            return
        self._refused = True
        if self.cycle is not None and not self.cycle.response_complete:
            self.abort()  # a response is on its way; nothing can be said in its middle
            return
        self.transport.write(_TOO_LARGE)
        self.transport.write_eof()
        self.loop.call_later(LINGER_S, self.transport.abort)


def cut_off(scope: Scope) -> None:
    scope["extensions"][_ABORT]()
