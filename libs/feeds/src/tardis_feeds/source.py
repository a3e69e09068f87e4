"""A range of an exchange's messages as blocks of lines: slices fetched ahead, read one after the other."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from datetime import datetime
from pathlib import Path

from .fetch import SliceFetcher
from .lines import read_blocks
from .plan import Filters, plan_slices

SLICES_AHEAD = 4


async def replay_blocks(
    fetcher: SliceFetcher, exchange: str, filters: Filters, start: datetime, end: datetime, *, api_key: str | None = None
) -> AsyncIterator[bytes]:
    """Memory is bounded by the block, disk by what the cache keeps; the slices ahead are files."""
    keys = plan_slices(exchange, filters, start, end)
    ahead: deque[asyncio.Task[Path]] = deque()
    try:
        while True:
            while len(ahead) < SLICES_AHEAD and (key := next(keys, None)) is not None:
                ahead.append(asyncio.create_task(fetcher.slice(key, api_key)))
            if not ahead:
                return
            path = await ahead[0]
            ahead.popleft()
            for block in read_blocks(path):
                yield block
    finally:
        for task in ahead:
            task.cancel()
        await asyncio.gather(*ahead, return_exceptions=True)
