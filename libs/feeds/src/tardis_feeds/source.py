"""A range of an exchange's messages as blocks of lines: slices fetched ahead, read one after the other."""

from __future__ import annotations

import asyncio
import hashlib
from collections import deque
from collections.abc import AsyncIterator, Iterator
from datetime import datetime
from pathlib import Path
from typing import BinaryIO

from .errors import SliceDamaged
from .fetch import SliceFetcher
from .lines import open_slice, read_blocks
from .plan import Filters, SliceKey, plan_slices

SLICES_AHEAD = 4


async def replay_blocks(
    fetcher: SliceFetcher, exchange: str, filters: Filters, start: datetime, end: datetime, *, api_key: str | None = None
) -> AsyncIterator[bytes]:
    """Memory is bounded by the block, disk by what the cache keeps; the slices ahead are files."""
    keys = plan_slices(exchange, filters, start, end)
    ahead: deque[tuple[SliceKey, asyncio.Task[Path]]] = deque()
    try:
        while True:
            while len(ahead) < SLICES_AHEAD and (key := next(keys, None)) is not None:
                ahead.append((key, asyncio.create_task(fetcher.slice(key, api_key))))
            if not ahead:
                return
            key, fetching = ahead[0]
            path = await fetching
            ahead.popleft()
            async for block in _slice_blocks(fetcher, key, path, api_key):
                yield block
    finally:
        tasks = [task for _, task in ahead]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _slice_blocks(fetcher: SliceFetcher, key: SliceKey, path: Path, api_key: str | None) -> AsyncIterator[bytes]:
    """A slice that turns out damaged is fetched once more and goes on where the damaged one ended."""
    given, fingerprint = 0, b""
    try:
        with open_slice(path) as file:
            try:
                for block in read_blocks(file):
                    given += len(block)
                    yield block
                return
            except SliceDamaged:
                fingerprint = _fingerprint(file, given)
                raise
    except SliceDamaged as damage:
        fetcher.discard(key, path, damage)
    path = await fetcher.slice(key, api_key)
    try:
        with open_slice(path) as file:
            same = not given or _fingerprint(file, given) == fingerprint
            file.seek(0)
            for block in _after(read_blocks(file), given) if same else ():
                yield block
    except SliceDamaged as damage:
        fetcher.discard(key, path, damage)
        raise
    if not same:
        raise SliceDamaged(f"{key}: what was replayed before the damage showed was wrong already")


def _after(blocks: Iterator[bytes], skipped: int) -> Iterator[bytes]:
    for block in blocks:
        if skipped < len(block):
            yield block[skipped:]
        skipped = max(0, skipped - len(block))


def _fingerprint(file: BinaryIO, size: int) -> bytes:
    """Of the first `size` bytes. Taken only after damage, so that a healthy slice pays nothing for it."""
    digest = hashlib.blake2b()
    file.seek(0)
    for block in read_blocks(file) if size else ():
        digest.update(block[:size])
        size -= len(block)
        if size <= 0:
            break
    return digest.digest()
