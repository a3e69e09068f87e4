"""Minutes on disk: the same whatever the order, after damage and beside other writers; bounded; answers from them."""

import gzip
import os
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
import zstandard

from tardis_simulator.damage import GARBAGE_LINE
from tardis_simulator.recipe import Recipe
from tardis_simulator.retention import trim
from tardis_simulator.slices import Filter, Pantry, Slice
from tardis_simulator.store import MinuteStore, locked
from tardis_simulator.workshop import Workshop

DAY = date(2020, 2, 1)
RECIPE = Recipe("classic", "1", rate=50, symbol_count=3, disconnect_every=2)


def expected(exchange: str, number: int) -> bytes:
    feed = RECIPE.start(exchange, DAY)
    return [RECIPE.next_minute(feed, DAY, n).text for n in range(number + 1)][-1]


def fill(store: MinuteStore, exchange: str, upto: int, day: date = DAY) -> None:
    while not store.has(exchange, day, upto):
        store.generate_next(exchange, day, upto)


def wanted(exchange: str = "bitmex", minute: int = 0, size: int = 1, *filters: Filter, zstd: bool = False) -> Slice:
    return Slice(exchange, datetime(2020, 2, 1, 0, minute, tzinfo=UTC), size, filters, "zstd" if zstd else "gzip")


@pytest.fixture
def store(tmp_path: Path) -> MinuteStore:
    return MinuteStore(tmp_path, RECIPE)


def test_minutes_go_on_from_the_saved_state(store: MinuteStore) -> None:
    fill(store, "bitmex", 1)
    fill(MinuteStore(store.root, RECIPE), "bitmex", 3)
    assert store.minute("bitmex", DAY, 3).text == expected("bitmex", 3)
    store.generate_next("bitmex", DAY, 3)
    assert not store.has("bitmex", DAY, 4), "what is there is not made again"


@pytest.mark.parametrize("damage", ["garbage", "empty", "missing minute"])
def test_a_damaged_day_begins_again_and_comes_out_the_same(store: MinuteStore, damage: str) -> None:
    fill(store, "binance", 2)
    folder = next(store.root.glob("*/minutes/binance/2020-02-01"))
    if damage == "missing minute":
        (folder / "0001.zst").unlink()
    else:
        (folder / "state").write_bytes(b"" if damage == "empty" else zstandard.compress(b'{"next": 3}'))
    fill(store, "binance", 3)
    assert store.minute("binance", DAY, 1).text == expected("binance", 1)
    assert store.minute("binance", DAY, 3).text == expected("binance", 3)


def test_retention_drops_what_was_used_least_recently(store: MinuteStore) -> None:
    days = [date(2020, 2, n) for n in (1, 2, 3)]
    for age, day in enumerate(days):
        fill(store, "deribit", 0, day)
        folder = next(store.root.glob(f"*/minutes/deribit/{day}"))
        os.utime(folder, (1_000 + age, 1_000 + age))
    store.frame("deribit", days[0], 0)
    size = sum(path.stat().st_size for path in store.root.glob(f"*/minutes/deribit/{days[0]}/*"))
    assert trim(store.root, 10 * size) == 0
    assert trim(store.root, size + 100) == 2
    assert [store.has("deribit", day, 0) for day in days] == [True, False, False]
    assert trim(store.root, 0) == 0, "the one in use stays"


def test_retention_spares_a_day_that_is_being_made_and_young_unfinished_files(store: MinuteStore) -> None:
    fill(store, "deribit", 0)
    fill(store, "bitmex", 0)
    folder = next(store.root.glob("*/minutes/deribit/2020-02-01"))
    os.utime(folder, (1, 1))
    answers = store.root / RECIPE.key / "answers" / "bitmex"
    answers.mkdir(parents=True)
    for name, used in (("a.gz.1.tmp", None), ("b.gz.1.tmp", (1, 1)), ("c.gz", (1, 1))):
        (answers / name).write_bytes(b"x")
        if used:
            os.utime(answers / name, used)
    with locked(folder):
        trim(store.root, 0)
    assert store.has("deribit", DAY, 0)
    assert [path.name for path in answers.iterdir()] == ["a.gz.1.tmp"]


def test_answers_are_the_minutes_compressed(store: MinuteStore) -> None:
    pantry = Pantry(store, max_minutes=3, overlay=None)
    fill(store, "bitmex", 2)
    text = b"".join(expected("bitmex", n) for n in (1, 2))
    past_the_end = wanted("bitmex", 1, 4)
    assert gzip.decompress(pantry.build(past_the_end)) == text
    frames = pantry.build(wanted("bitmex", 1, 2, zstd=True))
    reader = zstandard.ZstdDecompressor().stream_reader(frames, read_across_frames=True)
    assert reader.read() == text
    assert zstandard.decompress(frames) == expected("bitmex", 1), "one frame per minute"
    assert gzip.decompress(pantry.build(wanted("kraken"))) == b""


def test_filters_keep_disconnects_and_ignore_case(store: MinuteStore) -> None:
    pantry = Pantry(store, max_minutes=60, overlay=None)
    fill(store, "bitmex", 1)
    lines = gzip.decompress(pantry.build(wanted("bitmex", 1, 1, Filter("trade", ("xbtusd",))))).split(b"\n")[:-1]
    assert b"" in lines
    assert all(b'"table":"trade"' in line and b"XBTUSD" in line for line in lines if line)
    assert len(lines) > 1
    nothing = pantry.build(wanted("bitmex", 0, 1, Filter("funding", ()), zstd=True))
    assert zstandard.decompress(nothing) == b""


def test_recorded_minutes_replace_made_up_ones(store: MinuteStore, tmp_path: Path) -> None:
    overlay = tmp_path / "recorded"
    (overlay / "bitmex").mkdir(parents=True)
    (overlay / "bitmex" / "2020-02-01T00-01.ndjson").write_bytes(b"2020-02-01T00:01:00.0000000Z {}\n")
    pantry = Pantry(store, 60, overlay)
    fill(store, "bitmex", 2)
    body = gzip.decompress(pantry.build(wanted("bitmex", 0, 3)))
    assert body == expected("bitmex", 0) + b"2020-02-01T00:01:00.0000000Z {}\n" + expected("bitmex", 2)
    assert pantry.is_recorded(wanted("bitmex", 0, 3))
    assert not pantry.is_recorded(wanted("bitmex", 0, 1))
    assert pantry.has_overlay("bitmex")
    assert not pantry.has_overlay("binance")


async def test_the_workshop_makes_answers_once_and_survives_retention(store: MinuteStore) -> None:
    workshop = Workshop(Pantry(store, 60, None), max_bytes=10**9)
    try:
        with await workshop.answer(wanted("bitmex", 2)) as file:
            assert gzip.decompress(file.read()) == expected("bitmex", 2)
        path = workshop.pantry.answer_path(wanted("bitmex", 2))
        path.write_bytes(b"stored")
        with await workshop.answer(wanted("bitmex", 2)) as file:
            assert file.read() == b"stored"
        trim(store.root, 0)
        (store.root / RECIPE.key / "answers" / "bitmex" / path.name).unlink(missing_ok=True)
        with await workshop.answer(wanted("bitmex", 2)) as file:
            assert gzip.decompress(file.read()) == expected("bitmex", 2)
        damaged = await workshop.damaged(wanted("bitmex", 1, 2), garbage_line=True)
        assert gzip.decompress(damaged) == expected("bitmex", 1) + expected("bitmex", 2) + GARBAGE_LINE
    finally:
        workshop.close()


async def test_the_workshop_survives_a_killed_worker(store: MinuteStore) -> None:
    workshop = Workshop(Pantry(store, 60, None), max_bytes=10**9)
    try:
        await workshop.fresh(wanted("deribit", 0))
        for pid in list(workshop._pool._processes):
            os.kill(pid, 9)
        with await workshop.answer(wanted("deribit", 1)) as file:
            assert gzip.decompress(file.read()) == expected("deribit", 1)
    finally:
        workshop.close()
