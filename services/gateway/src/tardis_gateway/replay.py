"""A normalized replay inside a worker: lines → records → chunks of text, and the packs that go with each chunk."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, NamedTuple

from tardis_bronze import BronzeStream
from tardis_feeds import SliceFetcher, replay_blocks
from tardis_handoff import LanePack, pack_lanes
from tardis_market import InvalidDataType, UnknownExchange, encode_ndjson, find_exchange, map_block, mark_repeats, parse_data_types
from tardis_market.exchanges import not_supported
from tardis_market.records import Disconnect, Record

from .requests import NormalizedReplay

if TYPE_CHECKING:
    from .worker import WorkerConfig

CHUNK_BYTES = 256 << 10
ORIGIN_REPLAY = 2


class ReplayedChunk(NamedTuple):
    text: bytes
    messages: int
    packs: list[LanePack]


async def replay_normalized(request: NormalizedReplay, fetcher: SliceFetcher, config: WorkerConfig) -> AsyncIterator[ReplayedChunk]:
    data_types = parse_data_types(request.data_types)
    if data_types.computables:
        raise InvalidDataType(f"not served yet: {data_types.computables[0].name}")
    try:
        exchange = find_exchange(request.exchange)
    except UnknownExchange:
        raise not_supported(request.exchange, data_types.mapped[0]) from None
    mapper = exchange.mapper(data_types.mapped, request.start)
    filters = exchange.filters(data_types.mapped, request.symbols, request.start)
    chunks = _ChunkBuilder(request, config)
    last, carry = None, None
    blocks = replay_blocks(fetcher, request.exchange, filters, request.start, request.end, api_key=request.api_key)
    async for block in blocks:
        records: list[Record] = []
        last = map_block(mapper, block, records, last)
        carry = mark_repeats(records, carry)
        chunks.add(records)
        if chunks.full:
            yield chunks.take()
    if chunks.begun:
        yield chunks.take()


class _ChunkBuilder:
    """Gathers records until their text fills a chunk."""

    def __init__(self, request: NormalizedReplay, config: WorkerConfig) -> None:
        self._with_disconnects = request.with_disconnect_messages
        self._stream = _bronze_stream(request, config)
        self._texts: list[bytes] = []
        self._size = self._messages = 0
        self._records: list[Record] = []
        self._taken = False

    def add(self, records: list[Record]) -> None:
        shown = records if self._with_disconnects else [r for r in records if type(r) is not Disconnect]
        text = encode_ndjson(shown)
        self._texts.append(text)
        self._size += len(text)
        self._messages += len(shown)
        if self._stream is not None:  # disconnects are published whether or not the client asked to see them
            self._records += records

    @property
    def full(self) -> bool:
        """The first chunk goes out as soon as there is anything: clients wait for it."""
        return self._size >= CHUNK_BYTES or (not self._taken and self._size > 0)

    @property
    def begun(self) -> bool:
        return bool(self._size or self._records)

    def take(self) -> ReplayedChunk:
        chunk = ReplayedChunk(b"".join(self._texts), self._messages, self._packs())
        self._texts, self._records = [], []
        self._size = self._messages = 0
        self._taken = True
        return chunk

    def _packs(self) -> list[LanePack]:
        if self._stream is None or not self._records:
            return []
        return pack_lanes(self._stream.encode(self._records, time.time_ns()))


def _bronze_stream(request: NormalizedReplay, config: WorkerConfig) -> BronzeStream | None:
    if config.spool_dir is None or not request.publish:
        return None
    meta = {"request_id": request.request_id, "transport": "http"}
    return BronzeStream(
        source=config.producer_id, origin=ORIGIN_REPLAY, stream_id=request.request_id, meta=meta, lanes=config.lanes
    )
