"""The routes without a network: what is refused and in which words, faults, counts."""

import asyncio
import zlib
from collections.abc import AsyncIterator, Iterator

import httpx
import pytest
import zstandard
from pydantic import SecretStr, ValidationError
from starlette.applications import Starlette

from tardis_settings import SimulatorOptions
from tardis_simulator.app import MAX_QUERY_BYTES, create_app
from tardis_simulator.damage import break_off
from tardis_simulator.faults import MAX_FAULTS, Fault
from tardis_simulator.queries import Access

FEED = "/v1/data-feeds/bitmex"


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Starlette]:
    folder = tmp_path_factory.mktemp("simulator")
    (folder / "recorded" / "kraken").mkdir(parents=True)
    (folder / "recorded" / "kraken" / "2020-02-01T00-00.ndjson").write_bytes(b"2020-02-01T00:00:00.0000000Z [1]\n")
    options = SimulatorOptions(data_dir=folder / "data", rate=20, overlay=folder / "recorded", api_key=SecretStr("key"))
    app = create_app(options)
    yield app

    async def stop() -> None:
        async with app.router.lifespan_context(app):
            pass

    asyncio.run(stop())


@pytest.fixture
async def client(app: Starlette) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://simulator") as client:
        await client.delete("/faults")
        await client.delete("/stats")
        yield client


@pytest.mark.parametrize(
    ("query", "status", "body"),
    [
        ("", 400, '{"code": 101, "message": "\'from\' query param is not a valid ISO 8601 date."}'),
        ("from=yesterday", 400, '{"code": 101, "message": "\'from\' query param is not a valid ISO 8601 date."}'),
        ("from=2020-02-01&offset=-1", 400, '{"code": 102, "message": "invalid \'offset\' or \'sliceSize\' query param."}'),
        ("from=2020-02-01&offset=x", 400, '{"code": 102, "message": "invalid \'offset\' or \'sliceSize\' query param."}'),
        ("from=2020-02-01&sliceSize=61", 400, '{"code": 102, "message": "invalid \'offset\' or \'sliceSize\' query param."}'),
        (
            "from=9999-12-31&offset=1439&sliceSize=2",
            400,
            '{"code": 102, "message": "invalid \'offset\' or \'sliceSize\' query param."}',
        ),
        (
            "from=2020-02-01&offset=99999999999999",
            400,
            '{"code": 102, "message": "invalid \'offset\' or \'sliceSize\' query param."}',
        ),
        (
            'from=2020-02-01&filters=[{"symbols":[]}]',
            400,
            '{"code": 103, "message": "\'filters\' query param is not a valid JSON array of {channel, symbols}."}',
        ),
        ("from=2020-02-01&filters={}", 400, None),
        ("from=2020-02-01&filters=" + "[" * 5000, 400, None),
        ('from=2020-02-01&filters=[{"channel":"trade","symbols":5}]', 400, None),
        (
            'from=2020-02-01&filters=[{"channel":"trades"}]',
            400,
            '{"code": 105, "message": "invalid channel \'trades\' in \'filters\' query param."}',
        ),
        ("from=2020-02-02", 401, '{"code": 100, "message": "Unauthorized, please provide valid API key."}'),
        ("from=2020-02-01&offset=1439&sliceSize=2", 401, None),
    ],
)
async def test_refusals_of_the_vendor(client: httpx.AsyncClient, query: str, status: int, body: str | None) -> None:
    answer = await client.get(f"{FEED}?{query}")
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/json"
    assert body in (None, answer.text)


async def test_other_refusals(client: httpx.AsyncClient) -> None:
    assert (
        await client.get("/v1/data-feeds/nowhere?from=2020-02-01")
    ).text == '{"code": 104, "message": "unknown exchange \'nowhere\'."}'
    assert (await client.get("/v1/data-feeds/..?from=2020-02-01")).status_code in (400, 404)
    assert (
        await client.get("/v1/exchanges/nowhere")
    ).text == '{"code": 404, "message": "There is no exchange with id: \'nowhere\'"}'
    assert (await client.get("/v2")).json() == {"code": 404, "message": "not found"}
    assert (await client.post("/v1/exchanges")).status_code == 405
    assert (await client.get(f"{FEED}?from=2020-02-01&x={'y' * MAX_QUERY_BYTES}")).status_code == 414
    assert (await client.post("/faults", content=b" " * 70_000)).status_code == 413


async def test_keys(client: httpx.AsyncClient) -> None:
    good, bad = {"authorization": "Bearer key"}, {"authorization": "Bearer kez"}
    assert (await client.get(f"{FEED}?from=2020-02-02", headers=good)).status_code == 200
    assert (await client.get(f"{FEED}?from=2020-02-02", headers=bad)).status_code == 401
    assert (await client.get(f"{FEED}?from=2020-02-01T00:03:00.000Z", headers=bad)).status_code == 200
    assert (await client.get("/v1/api-key-info")).status_code == 401

    assert [entry["exchange"] for entry in (await client.get("/v1/api-key-info", headers=good)).json()] == [
        "bitmex",
        "binance",
        "deribit",
    ]


async def test_listings(client: httpx.AsyncClient) -> None:
    assert [exchange["id"] for exchange in (await client.get("/v1/exchanges")).json()] == ["bitmex", "binance", "deribit"]
    details = (await client.get("/v1/exchanges/deribit")).json()
    assert details["availableChannels"] == ["trades", "book", "ticker"]
    assert {"id": "BTC-28FEB20", "type": "future", "availableSince": "2019-03-30T00:00:00.000Z"} in details["availableSymbols"]
    for exchange, symbol in (("bitmex", "XBTUSD"), ("binance", "btcusdt"), ("deribit", "BTC-PERPETUAL")):
        first = (await client.get(f"/v1/instruments/{exchange}")).json()[0]
        assert first["id"] == symbol
        assert first["baseCurrency"] == "BTC"
        assert first["priceIncrement"] in (0.5, 0.01)
        assert {"quoteCurrency", "type", "active", "amountIncrement", "minTradeAmount", "makerFee", "takerFee"} <= set(first)


async def test_an_exchange_that_is_only_recorded(client: httpx.AsyncClient) -> None:
    answer = await client.get('/v1/data-feeds/kraken?from=2020-02-01&filters=[{"channel":"any"}]')
    assert answer.text == "2020-02-01T00:00:00.0000000Z [1]\n"
    assert (await client.get("/v1/data-feeds/kraken?from=2020-02-01&offset=1")).text == ""


async def test_status_faults(client: httpx.AsyncClient) -> None:
    fault = {"status": 429, "retryAfter": 3, "times": 2, "match": {"exchange": "bitmex", "minute": "2020-02-01T00:01:00Z"}}
    assert (await client.post("/faults", json=fault)).status_code == 201
    assert (await client.post("/faults", json={"status": 503, "every": 2, "match": {"exchange": "binance"}})).status_code == 201
    hit = await client.get(f"{FEED}?from=2020-02-01&sliceSize=2")
    assert (hit.status_code, hit.headers["retry-after"], hit.text) == (429, "3", '{"code": 429, "message": "injected failure"}')
    statuses = [(await client.get(f"{FEED}?from=2020-02-01&offset={minute}")).status_code for minute in (0, 1, 1)]
    assert statuses == [200, 429, 200]
    assert [(await client.get("/v1/data-feeds/binance?from=2020-02-01")).status_code for _ in range(4)] == [200, 503, 200, 503]
    assert [(f["seen"], f["hits"]) for f in (await client.get("/faults")).json()] == [(3, 2), (4, 2)]
    assert (await client.delete("/faults")).json() == []
    assert (await client.get(f"{FEED}?from=2020-02-01&offset=1")).status_code == 200


async def test_body_faults(client: httpx.AsyncClient) -> None:
    await client.post("/faults", json={"garbageLine": True, "times": 1})
    await client.post("/faults", json={"garbage": True})
    assert (await client.get(f"{FEED}?from=2020-02-01&compression=zstd")).text.endswith("\nthis line is not a message\n")
    for compression in ("gzip", "zstd"):
        with pytest.raises(httpx.DecodingError):
            await client.get(f"{FEED}?from=2020-02-01&compression={compression}")


async def test_stalls_send_everything_in_the_end(client: httpx.AsyncClient) -> None:
    whole = await client.get(f"{FEED}?from=2020-02-01")
    await client.post("/faults", json={"stallAfterBytes": 100, "stallS": 0.01})
    assert (await client.get(f"{FEED}?from=2020-02-01")).content == whole.content


@pytest.mark.parametrize(
    "fault",
    [
        {},
        {"status": 200},
        {"status": 500, "times": 1, "every": 2},
        {"stallS": 1},
        {"retryAfter": 1, "garbage": True},
        {"garbage": True, "unknown": 1},
        {"status": 500, "match": {"minute": "soon"}},
    ],
)
async def test_faults_that_make_no_sense_are_refused(client: httpx.AsyncClient, fault: dict[str, object]) -> None:
    answer = await client.post("/faults", json=fault)
    assert answer.status_code == 400
    assert answer.json()["message"]
    with pytest.raises(ValidationError):
        Fault.model_validate(fault)


async def test_the_number_of_faults_is_bounded(client: httpx.AsyncClient) -> None:
    statuses = [(await client.post("/faults", json={"status": 500})).status_code for _ in range(MAX_FAULTS + 1)]
    assert statuses == [201] * MAX_FAULTS + [409]


async def test_requests_are_counted(client: httpx.AsyncClient) -> None:
    for _ in range(2):
        await client.get(f"{FEED}?from=2020-02-01")
    await client.get(FEED)
    stats = (await client.get("/stats")).json()
    assert stats["slices"] == {"bitmex 2020-02-01T00:00:00+00:00 1": 2}
    assert stats["requests"] == {"clear_stats 200": 1, "data_feeds 200": 2, "data_feeds 400": 1}
    assert (await client.delete("/stats")).json() == {"requests": {}, "slices": {}}
    assert 'tardis_simulator_requests_total{route="data_feeds",status="400"}' in (await client.get("/metrics")).text
    assert (await client.get("/ready")).json() == {"ready": True}


@pytest.mark.parametrize("size", [0, 1, 100, 100_000])
def test_half_of_a_broken_body_can_be_read_and_then_it_fails(size: int) -> None:
    text = bytes(i * i % 251 for i in range(size))
    unpack = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
    body = break_off(text, "gzip")
    assert unpack.decompress(body[:-64]) == text[: size // 2]
    with pytest.raises(zlib.error):
        unpack.decompress(body[-64:])
    frame = zstandard.ZstdDecompressor().decompressobj()
    body = break_off(text, "zstd")
    assert frame.decompress(body[:-64]) == text[: size // 2]
    with pytest.raises(zstandard.ZstdError):
        frame.decompress(body[-64:])


def test_where_no_key_is_set_any_key_opens_the_other_days() -> None:
    assert not Access(None).valid(None)
    assert not Access(None).valid("Bearer ")
    assert Access(None).valid("Bearer any")
    assert Access("key").valid("Bearer key")
    assert not Access("key").valid("Bearer any")
