"""One slice from the vendor into the cache, with retries."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

import aiohttp
from yarl import URL

from tardis_telemetry import catalogue as metrics
from tardis_telemetry import get_logger

from .cache import SUFFIXES, SliceCache
from .errors import SliceDamaged, SourceAway, SourceRefused
from .plan import SliceKey

log = get_logger(__name__)

MAX_DELAY_S = 20.0
MAX_ERROR_BYTES = 4096
TIMEOUT = aiohttp.ClientTimeout(total=None, connect=10, sock_read=30)


@dataclass(frozen=True, kw_only=True)
class FetchLimits:
    """When a slice is given up."""

    attempts: int = 8
    total_s: float = 600.0  # over all attempts: a vendor that drips resets every other clock
    slice_bytes: int = 1 << 30  # compressed


class SliceFetcher:
    def __init__(
        self,
        api_url: str,
        cache: SliceCache,
        api_key: str | None,
        *,
        limits: FetchLimits | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._api_url, self._cache, self._sleep = api_url.rstrip("/"), cache, sleep
        self._default_key, self._limits = api_key, limits or FetchLimits()
        self._session: aiohttp.ClientSession | None = None

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()

    async def slice(self, key: SliceKey, api_key: str | None = None) -> Path:
        """The slice's file, from the cache if it is there: then no network is touched."""
        if path := self._cache.find(key):
            metrics.SLICES_CACHE_HITS.labels(key.exchange).inc()
            return path
        try:
            async with asyncio.timeout(self._limits.total_s):
                return await self._fetch(key, api_key or self._default_key)
        except TimeoutError:
            raise SourceAway(f"no whole answer for {key} within {self._limits.total_s:g} s") from None

    def discard(self, key: SliceKey, path: Path, damage: SliceDamaged) -> None:
        """A damaged slice leaves the cache, so that the next `slice` asks the vendor."""
        path.unlink(missing_ok=True)
        metrics.SLICES_RETRIES.labels(key.exchange, "damaged").inc()
        log.warning("slice is damaged and leaves the cache", exchange=key.exchange, minute=str(key.minute), error=str(damage))

    async def _fetch(self, key: SliceKey, api_key: str | None) -> Path:
        for attempt in range(1, self._limits.attempts + 1):
            try:
                return await self._download(key, api_key)
            except _TryAgain as error:
                problem = error
            if attempt < self._limits.attempts:
                await self._wait(key, attempt, problem)
        raise SourceAway(f"no answer for {key} after {self._limits.attempts} attempts: {problem}")

    async def _wait(self, key: SliceKey, attempt: int, problem: _TryAgain) -> None:
        delay = problem.delay
        if delay is None:
            delay = random.uniform(0, min(MAX_DELAY_S, 0.25 * 2**attempt))  # noqa: S311
        metrics.SLICES_RETRIES.labels(key.exchange, problem.kind).inc()
        log.warning(
            "slice is asked for again",
            exchange=key.exchange,
            minute=str(key.minute),
            error=str(problem),
            delay_s=round(delay, 2),
        )
        await self._sleep(delay)

    async def _download(self, key: SliceKey, api_key: str | None) -> Path:
        url = key.url(self._api_url)
        headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
        try:
            async with self._open_session().get(URL(url, encoded=True), headers=headers) as answer:
                if answer.status != 200:
                    await _raise_for(answer, url)
                return await self._store(key, answer)
        except (TimeoutError, aiohttp.ClientError) as error:
            raise _TryAgain("network", str(error) or type(error).__name__) from None

    async def _store(self, key: SliceKey, answer: aiohttp.ClientResponse) -> Path:
        encoding = answer.headers.get("Content-Encoding", "")
        if encoding not in SUFFIXES:
            raise SliceDamaged(f"the vendor sent {key} with the encoding {encoding[:40]!r}")
        young = self._cache.young(key)
        size = 0
        try:
            with young.open("wb") as file:
                async for piece in answer.content.iter_chunked(1 << 17):
                    size += file.write(piece)
                    if size > self._limits.slice_bytes:
                        raise SliceDamaged(f"the vendor's slice {key} is larger than {self._limits.slice_bytes} bytes")
            path = self._cache.keep(young, key, encoding)
        finally:
            young.unlink(missing_ok=True)
        metrics.SLICES_FETCHED.labels(key.exchange).inc()
        metrics.SLICES_FETCHED_BYTES.labels(key.exchange).inc(size)
        return path

    def _open_session(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = aiohttp.ClientSession(timeout=TIMEOUT, auto_decompress=False)
        return self._session


class _TryAgain(Exception):
    def __init__(self, kind: str, text: str, delay: float | None = None) -> None:
        super().__init__(text)
        self.kind, self.delay = kind, delay


async def _raise_for(answer: aiohttp.ClientResponse, url: str) -> None:
    text = (await answer.content.read(MAX_ERROR_BYTES)).decode(errors="replace")
    if answer.status == 429 or answer.status >= 500:
        after = answer.headers.get("Retry-After", "")
        raise _TryAgain(str(answer.status), f"status {answer.status}", min(float(after), MAX_DELAY_S) if after.isdigit() else None)
    raise SourceRefused(answer.status, text, url)
