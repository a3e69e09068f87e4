"""What can go wrong here.

MarketError
├── MappingError          a line is no JSON, or not what its exchange is known to send
├── UnknownExchange       no such exchange
├── UnsupportedDataType   the exchange has no such data
└── InvalidDataType       a data type of a request cannot be understood
"""

from __future__ import annotations


class MarketError(ValueError):
    pass


class UnknownExchange(MarketError):
    pass


class UnsupportedDataType(MarketError):
    pass


class InvalidDataType(MarketError):
    pass


class MappingError(MarketError):
    """`local` is the line's time in units of 100 ns (None if it has none), `line` its first 200 bytes."""

    def __init__(self, exchange: str, local: int | None, reason: str, line: bytes) -> None:
        super().__init__(exchange, local, reason, line[:200])
        self.exchange, self.local, self.reason, self.line = exchange, local, reason, line[:200]

    def __str__(self) -> str:
        return f"{self.exchange} at {self.local}: {self.reason}: {self.line.decode(errors='backslashreplace')}"
