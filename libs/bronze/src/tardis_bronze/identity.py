"""Event ids and lanes: the two hashes that other programs may compute for themselves (docs/event-ids.md has the layout)."""

from __future__ import annotations

from xxhash import xxh3_64_intdigest, xxh3_128_digest

from .wire import sized, varint

ID_VERSION = 1


def id_prefix(exchange: str, symbol: str | None, case: int, name: str) -> bytes:
    """What all events of one kind and symbol share."""
    return bytes((ID_VERSION,)) + sized(exchange.encode()) + sized((symbol or "").encode()) + varint(case) + sized(name.encode())


def id_input(prefix: bytes, ticks: int, identity: bytes, repeat: int) -> bytes:
    """`ticks` is the local time in 100 ns; `identity` the payload's identity fields as they stand on the wire."""
    return prefix + ticks.to_bytes(8, "little", signed=True) + identity + repeat.to_bytes(4, "little")


def event_id(prefix: bytes, ticks: int, identity: bytes, repeat: int) -> bytes:
    return xxh3_128_digest(id_input(prefix, ticks, identity, repeat))


def lane_of(exchange: str, symbol: str | None, lanes: int) -> int:
    """Events without a symbol use the exchange's lane."""
    return xxh3_64_intdigest(f"{exchange}\0{symbol or ''}".encode()) % lanes
