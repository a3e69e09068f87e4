"""Recorded messages and the exact lines that the API's users get for them."""

from __future__ import annotations

import json
from datetime import datetime
from types import SimpleNamespace
from typing import Any

import pytest

from tardis_market.datatypes import parse_data_types
from tardis_market.errors import InvalidDataType, UnknownExchange, UnsupportedDataType
from tardis_market.exchanges import EXCHANGES, find_exchange
from tardis_market.exchanges.exchange import not_supported

pytestmark = pytest.mark.corpus


def built() -> list[str]:
    found = []
    for exchange in EXCHANGES:
        try:
            found.append(find_exchange(exchange).id)
        except UnknownExchange:
            continue
    return found


@pytest.mark.parametrize("exchange", built())
def test_every_step_gives_its_lines(half: SimpleNamespace, corpus: Any, exchange: str) -> None:
    checked = 0
    for session in corpus(exchange)["sessions"]:
        moment = datetime.fromisoformat(session["replayFrom"])
        mapper = find_exchange(exchange).mapper(session["replayDataTypes"], moment)
        last = None
        for step in session["steps"]:
            message = json.dumps(step["message"], separators=(",", ":"), ensure_ascii=False)
            out: list[Any] = []
            last = half.map_block(mapper, f"{step['replayLocalTimestamp']} {message}\n".encode(), out, last)
            if not step.get("withheld"):
                assert half.encode_ndjson(out).decode().splitlines() == step["replayLines"]
                checked += 1
    assert checked


@pytest.mark.parametrize("exchange", built())
def test_channels_and_filters(corpus: Any, exchange: str) -> None:
    registry, about = corpus("_registry"), find_exchange(exchange)
    assert list(about.channels) == registry["EXCHANGE_CHANNELS_INFO"][exchange]
    for data_type, known in registry["registry"][exchange]["dataTypes"].items():
        for day, filters in {**known.get("at", {}), **known.get("atSwitch", {})}.items():
            moment = datetime.fromisoformat(day if "T" in day else f"{day}T00:00:00Z")
            assert about.filters([data_type], ["btcusdt", "ETHUSDT"], moment) == filters["sample"]
            assert "all" not in filters or about.filters([data_type], None, moment) == filters["all"]


def test_unsupported_types(corpus: Any) -> None:
    registry = corpus("_registry")
    assert list(EXCHANGES) == registry["exchanges"]
    for exchange, about in registry["registry"].items():
        for data_type, known in about["dataTypes"].items():
            if "error" in known:
                assert str(not_supported(exchange, data_type)) == known["error"]
                if exchange in built():
                    with pytest.raises(UnsupportedDataType):
                        find_exchange(exchange).filters([data_type], None, datetime.fromisoformat("2020-01-01T00:00:00Z"))


def test_data_types(corpus: Any) -> None:
    compute = corpus("_compute")
    for name, known in compute["invalidDataTypes"].items():
        if "error" in known:
            with pytest.raises(InvalidDataType) as caught:
                parse_data_types([name])
            assert str(caught.value) == known["error"]
        else:
            assert len(parse_data_types([name]).computables) == known["ok"]
    for name, sources in compute["dataTypeToNormalizers"].items():
        if name not in compute["invalidDataTypes"] and sources:
            assert list(parse_data_types([name]).mapped) == sources
