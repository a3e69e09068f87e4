"""Classic data never changes: literal hashes on a bare clone, and the first implementation where it is at hand."""

import hashlib
import importlib.util
import os
import sys
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tardis_simulator.feeds import FEEDS, Minute
from tardis_simulator.recipe import Recipe
from tardis_simulator.slices import Filter, Slice, allowed_tags, select

DAY = date(2020, 2, 1)
REPOSITORY = Path(__file__).parents[3]
CORPUS = Path(os.environ.get("TARDIS_CORPUS") or REPOSITORY.parent / "shared" / "corpus")

# Seed 1, 300 messages per minute, a disconnect in every 7th minute.
KNOWN = [
    ("bitmex", 0, None, "c83f17c40b0e59f992a268c62066f8ef19140afa2edf1ca54fcdc24b38688d01"),
    ("bitmex", 6, None, "2ae88f1663eecf6fbb988280c4b54baefb274921b0436c6ceb2622da545cd649"),
    ("bitmex", 13, None, "689f3f016b336517d849f855dea7f6a3d7ec259c099dcfb96b7832d4c53d6c58"),
    ("bitmex", 6, ("trade", "XBTUSD"), "484d9c8df0ed0b7bc3905b6b90da6f304ab6fe605d05caec0a46b8bb9c0fc0d8"),
    ("binance", 0, None, "69bcc9e401b8e2151bf8941401fa269f5d6438404f739a43b0e7d9ce4d9a09a1"),
    ("binance", 6, None, "8b806700f8f6f0c1fb9b300ab9a0507d37c00595952e9ff6a43a44c57ce773a1"),
    ("binance", 13, None, "e9f95c1c761ad124eeef88bd71836a39ca17f48f67743e68200b6599542d95d7"),
    ("binance", 6, ("depth", "btcusdt"), "03914ba239a520b6c8548e0c2923d21d20100461dce62f59091e33bf3d524bad"),
    ("deribit", 0, None, "af509259ffb56c8fdb1f89d1eaf7d9bba422cb89b6cd4524f0809a3e5da2cb7d"),
    ("deribit", 6, None, "31e713b811283743e3ba89f999bfc54b9e34d33866064502890ffbbb64a0d49f"),
    ("deribit", 13, None, "66bf3d9401983ede2c0ffce2dd22e84b733b90381d4ea8401df1ffbfb00ad95d"),
    ("deribit", 6, ("book", "BTC-PERPETUAL"), "d8fcbcb3421f8db5e6f2ddb4902294a0c1d9a2f2fa25c60ba108806732f7474b"),
]


def classic(rate: int) -> Recipe:
    return Recipe("classic", seed="1", rate=rate, symbol_count=3, disconnect_every=7)


def minutes(recipe: Recipe, exchange: str) -> Iterator[Minute]:
    feed, number = recipe.start(exchange, DAY), 0
    while True:
        yield recipe.next_minute(feed, DAY, number)
        number += 1


def filtered(recipe: Recipe, exchange: str, minute: Minute, *filters: Filter) -> bytes:
    wanted = Slice(exchange, datetime(2020, 2, 1, tzinfo=UTC), 1, filters, "gzip")
    return select(minute, allowed_tags(recipe, wanted))


@pytest.mark.parametrize(("exchange", "number", "only", "digest"), KNOWN)
def test_known_minutes(exchange: str, number: int, only: tuple[str, str] | None, digest: str) -> None:
    recipe = classic(300)
    source = minutes(recipe, exchange)
    for _ in range(number):
        next(source)
    minute = next(source)
    data = filtered(recipe, exchange, minute, Filter(only[0], (only[1],))) if only else minute.text
    assert hashlib.sha256(data).hexdigest() == digest


@pytest.fixture(scope="module")
def prototype() -> Any:
    path = CORPUS.parent / "prototypes" / "vendor_api.py"
    if not path.is_file():
        pytest.skip("the first implementation is not beside the corpus (TARDIS_CORPUS)")
    spec = importlib.util.spec_from_file_location("first_vendor_api", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # it pickles its feeds
    spec.loader.exec_module(module)
    return module


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("exchange", "rate", "count"), [("bitmex", 900, 9), ("binance", 900, 9), ("deribit", 900, 9), ("bitmex", 12_000, 1)]
)
def test_equal_to_the_first_implementation(prototype: Any, tmp_path: Path, exchange: str, rate: int, count: int) -> None:
    first = prototype.Store(
        SimpleNamespace(data_dir=str(tmp_path), seed="1", rate=rate, disconnect_every=7, overlay=None, max_minutes=60)
    )
    recipe = classic(rate)
    channel, symbol = FEEDS[exchange].channels[0], FEEDS[exchange].listed[1].name
    for number, minute in zip(range(count), minutes(recipe, exchange), strict=False):
        assert minute.text == first.minute_bytes(exchange, str(DAY), number, [])
        asked = [{"channel": channel, "symbols": [symbol.swapcase()]}, {"channel": FEEDS[exchange].channels[1]}]
        ours = filtered(recipe, exchange, minute, Filter(channel, (symbol.swapcase(),)), Filter(FEEDS[exchange].channels[1], ()))
        assert ours == first.minute_bytes(exchange, str(DAY), number, asked)
