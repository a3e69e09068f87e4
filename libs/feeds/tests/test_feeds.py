"""Slices from a real HTTP server: planned, fetched, cached, read; every kind of bad answer."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import zstandard
from aiohttp import web
from hypothesis import given, settings
from hypothesis import strategies as st

from tardis_feeds import (
    FetchLimits,
    SliceCache,
    SliceDamaged,
    SliceFetcher,
    SourceAway,
    SourceRefused,
    open_slice,
    plan_slices,
    read_blocks,
    replay_blocks,
)

START = datetime(2020, 2, 1, tzinfo=UTC)
END = datetime(2020, 2, 1, 0, 3, tzinfo=UTC)
FILTERS = [{"channel": "trade", "symbols": ["XBTUSD"]}]


class Vendor:
    """A small HTTP server that answers what the test tells it to."""

    def __init__(self) -> None:
        self.requests: list[web.Request] = []
        self.answer: Callable[[web.Request], Awaitable[web.StreamResponse]] = self.minutes
        self.url = ""

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.requests.append(request)
        return await self.answer(request)

    async def minutes(self, request: web.Request) -> web.StreamResponse:
        lines = f"minute {request.query['offset']} line 1\nminute {request.query['offset']} line 2\n".encode()
        return web.Response(body=zstandard.compress(lines), headers={"Content-Encoding": "zstd"})


@pytest.fixture
async def vendor() -> AsyncIterator[Vendor]:
    made = Vendor()
    app = web.Application()
    app.router.add_get("/v1/data-feeds/{exchange}", made.handle)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host, port = runner.addresses[0][:2]
    made.url = f"http://{host}:{port}/v1"
    yield made
    await runner.cleanup()


@pytest.fixture
async def fetcher(vendor: Vendor, tmp_path: Path) -> AsyncIterator[SliceFetcher]:
    delays: list[float] = []

    async def sleep(seconds: float) -> None:
        delays.append(seconds)

    made = SliceFetcher(vendor.url, SliceCache(tmp_path / "cache"), "key-1", sleep=sleep)
    made.delays = delays  # type: ignore[attr-defined]
    yield made
    await made.close()


async def lines(fetcher: SliceFetcher, **options: str) -> list[bytes]:
    found = b"".join([block async for block in replay_blocks(fetcher, "bitmex", FILTERS, START, END, **options)])
    return found.splitlines()


async def test_a_range_comes_in_order_and_the_second_time_from_the_cache(vendor: Vendor, fetcher: SliceFetcher) -> None:
    expected = [f"minute {minute} line {line}".encode() for minute in range(3) for line in (1, 2)]
    assert await lines(fetcher) == expected
    assert len(vendor.requests) == 3
    assert await lines(fetcher) == expected
    assert len(vendor.requests) == 3
    query = vendor.requests[0].query
    assert query["from"] == "2020-02-01T00:00:00.000Z"
    assert query["filters"] == '[{"channel":"trade","symbols":["XBTUSD"]}]'
    assert vendor.requests[0].headers["Authorization"] == "Bearer key-1"


async def test_a_request_may_bring_its_own_key(vendor: Vendor, fetcher: SliceFetcher) -> None:
    await lines(fetcher, api_key="mine")
    assert vendor.requests[0].headers["Authorization"] == "Bearer mine"


async def test_gzip_is_read_too(vendor: Vendor, fetcher: SliceFetcher) -> None:
    async def zipped(request: web.Request) -> web.StreamResponse:
        return web.Response(body=gzip.compress(b"a\nb"), headers={"Content-Encoding": "gzip"})

    vendor.answer = zipped
    assert await lines(fetcher) == [b"a", b"b"] * 3


@pytest.mark.parametrize("status", [429, 500, 503])
async def test_what_may_pass_is_tried_again(vendor: Vendor, fetcher: SliceFetcher, status: int) -> None:
    async def sometimes(request: web.Request) -> web.StreamResponse:
        if len(vendor.requests) % 2:
            return web.Response(status=status, headers={"Retry-After": "3"} if status == 429 else {})
        return await vendor.minutes(request)

    vendor.answer = sometimes
    assert len(await lines(fetcher)) == 6
    delays: list[float] = fetcher.delays  # type: ignore[attr-defined]
    assert delays
    assert (3.0 in delays) == (status == 429)


async def test_a_refusal_is_passed_on_at_once(vendor: Vendor, fetcher: SliceFetcher) -> None:
    async def refuse(request: web.Request) -> web.StreamResponse:
        return web.json_response({"code": 100, "message": "no key"}, status=401)

    vendor.answer = refuse
    with pytest.raises(SourceRefused, match=r"status code: 401, response text: .*no key") as refused:
        await lines(fetcher)
    assert refused.value.status == 401
    assert refused.value.url.startswith(vendor.url)
    assert fetcher.delays == []  # type: ignore[attr-defined]


async def test_a_vendor_that_stays_away_is_given_up(vendor: Vendor, fetcher: SliceFetcher) -> None:
    async def fail(request: web.Request) -> web.StreamResponse:
        return web.Response(status=500)

    vendor.answer = fail
    with pytest.raises(SourceAway, match="bitmex 2020-02-01T00:00 after 8 attempts: status 500"):
        await anext(replay_blocks(fetcher, "bitmex", FILTERS, START, START + timedelta(minutes=1)))
    assert len(vendor.requests) == 8
    assert len(fetcher.delays) == 7  # type: ignore[attr-defined]


async def test_a_vendor_that_drips_is_given_up(vendor: Vendor, tmp_path: Path) -> None:
    async def drip(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Encoding": "zstd"})
        await response.prepare(request)
        while True:
            await response.write(b"x")
            await asyncio.sleep(0.01)

    vendor.answer = drip
    fetcher = SliceFetcher(vendor.url, SliceCache(tmp_path), None, limits=FetchLimits(total_s=0.3))
    try:
        with pytest.raises(SourceAway, match=r"no whole answer for bitmex 2020-02-01T00:00 within 0\.3 s"):
            await lines(fetcher)
    finally:
        await fetcher.close()
    assert not list(tmp_path.rglob("*.part"))


async def test_a_slice_without_end_is_refused(vendor: Vendor, tmp_path: Path) -> None:
    async def large(request: web.Request) -> web.StreamResponse:
        return web.Response(body=bytes(20_000), headers={"Content-Encoding": "zstd"})

    vendor.answer = large
    fetcher = SliceFetcher(vendor.url, SliceCache(tmp_path), None, limits=FetchLimits(slice_bytes=10_000))
    try:
        with pytest.raises(SliceDamaged, match="bitmex 2020-02-01T00:00 is larger than 10000 bytes"):
            await lines(fetcher)
    finally:
        await fetcher.close()
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


async def test_a_cut_download_never_becomes_a_slice(vendor: Vendor, fetcher: SliceFetcher, tmp_path: Path) -> None:
    async def cut(request: web.Request) -> web.StreamResponse:
        if len(vendor.requests) > 3:
            return await vendor.minutes(request)
        response = web.StreamResponse(headers={"Content-Encoding": "zstd", "Content-Length": "1000"})
        await response.prepare(request)
        await response.write(b"half of it")
        assert request.transport is not None
        request.transport.close()
        return response

    vendor.answer = cut
    assert len(await lines(fetcher)) == 6
    assert not list(tmp_path.rglob("*.part"))


async def test_an_unknown_encoding_is_refused(vendor: Vendor, fetcher: SliceFetcher) -> None:
    async def plain(request: web.Request) -> web.StreamResponse:
        return web.Response(body=b"plain")

    vendor.answer = plain
    with pytest.raises(SliceDamaged, match="encoding"):
        await lines(fetcher)


TEXT = b"".join(b"line %d of a minute\n" % number for number in range(20_000))
HALVES = [zstandard.compress(TEXT[: len(TEXT) // 2]), zstandard.compress(TEXT[len(TEXT) // 2 :])]


async def whole(request: web.Request) -> web.StreamResponse:
    return web.Response(body=b"".join(HALVES), headers={"Content-Encoding": "zstd"})


def cached(tmp_path: Path) -> list[Path]:
    return sorted(path for path in (tmp_path / "cache").rglob("*") if path.is_file())


@pytest.mark.parametrize("damage", [b"", HALVES[0][:100], HALVES[0] + HALVES[1][:-20], HALVES[0] + b"junk" * 10])
async def test_a_damaged_slice_is_fetched_once_more_and_no_line_is_told_twice(
    vendor: Vendor, fetcher: SliceFetcher, tmp_path: Path, damage: bytes
) -> None:
    vendor.answer = whole
    expected = TEXT.splitlines() * 3
    assert await lines(fetcher) == expected
    cached(tmp_path)[1].write_bytes(damage)
    assert await lines(fetcher) == expected
    assert len(vendor.requests) == 4
    assert cached(tmp_path)[1].read_bytes() == b"".join(HALVES)


async def test_a_slice_that_vanishes_is_fetched_again(vendor: Vendor, fetcher: SliceFetcher, tmp_path: Path) -> None:
    await lines(fetcher)
    blocks = replay_blocks(fetcher, "bitmex", FILTERS, START, END)
    found = await anext(blocks)  # all three are known to be in the cache by now
    await asyncio.sleep(0.1)
    cached(tmp_path)[2].unlink()
    assert len((found + b"".join([block async for block in blocks])).splitlines()) == 6
    assert len(vendor.requests) == 4


@pytest.mark.parametrize("damage", [b"", HALVES[0] + HALVES[1][:-20]])
async def test_a_slice_that_is_damaged_again_fails_and_is_not_kept(
    vendor: Vendor, fetcher: SliceFetcher, tmp_path: Path, damage: bytes
) -> None:
    async def damaged(request: web.Request) -> web.StreamResponse:
        return web.Response(body=damage, headers={"Content-Encoding": "zstd"})

    vendor.answer = damaged
    with pytest.raises(SliceDamaged, match="ends too early"):
        async for _ in replay_blocks(fetcher, "bitmex", FILTERS, START, START + timedelta(minutes=1)):
            pass
    assert len(vendor.requests) == 2
    assert not cached(tmp_path)


async def test_lines_that_were_wrong_before_the_damage_showed_are_not_passed_over(
    vendor: Vendor, fetcher: SliceFetcher, tmp_path: Path
) -> None:
    vendor.answer = whole
    await lines(fetcher)
    cached(tmp_path)[0].write_bytes(zstandard.compress(TEXT[: len(TEXT) // 2].replace(b"line 7 ", b"line 8 ")) + HALVES[1][:-20])
    with pytest.raises(SliceDamaged, match="wrong already"):
        await lines(fetcher)
    assert await lines(fetcher) == TEXT.splitlines() * 3
    assert len(vendor.requests) == 4


def test_slices_are_whole_minutes_of_a_half_open_range() -> None:
    def minutes(start: str, end: str) -> list[str]:
        keys = plan_slices("bitmex", [], datetime.fromisoformat(start), datetime.fromisoformat(end))
        return [f"{key.minute:%H:%M}" for key in keys]

    assert minutes("2020-02-01T00:00+00:00", "2020-02-01T00:03+00:00") == ["00:00", "00:01", "00:02"]
    assert minutes("2020-02-01T00:00:30+00:00", "2020-02-01T00:01:59+00:00") == ["00:00"]
    assert minutes("2020-02-01T01:00+01:00", "2020-02-01T00:01+00:00") == ["00:00"]
    assert minutes("2020-02-01T00:00+00:00", "2020-02-01T00:00:59+00:00") == []


def test_filters_have_shelves_of_their_own(tmp_path: Path) -> None:
    one, two = (next(iter(plan_slices("bitmex", filters, START, END))).path(tmp_path) for filters in (FILTERS, []))
    assert one != two
    assert one.name == two.name == "00"


@settings(max_examples=60, deadline=None)
@given(data=st.lists(st.binary(max_size=40).map(lambda b: b.replace(b"\n", b" ")), max_size=30), frames=st.integers(1, 4))
def test_blocks_are_the_lines_whatever_the_frames(tmp_path_factory: pytest.TempPathFactory, data: list[bytes], frames: int) -> None:
    text = b"".join(line + b"\n" for line in data)
    step = max(1, len(text) // frames)
    path = tmp_path_factory.mktemp("slice") / "00.zst"
    path.write_bytes(b"".join(zstandard.compress(text[at : at + step]) for at in range(0, len(text) or 1, step)))
    with open_slice(path) as file:
        assert b"".join(read_blocks(file)) == text


@pytest.mark.parametrize("suffix", [".zst", ".gz"])
def test_a_slice_that_ends_early_is_damaged(tmp_path: Path, suffix: str) -> None:
    text = b"".join(b"line %d\n" % n for n in range(5000))
    whole = zstandard.compress(text) if suffix == ".zst" else gzip.compress(text)
    path = tmp_path / f"00{suffix}"
    for content in (whole[:-20], b"nothing that any codec knows" * 10, b""):
        path.write_bytes(content)
        with open_slice(path) as file, pytest.raises(SliceDamaged):
            list(read_blocks(file))
