"""No secret survives, in whatever clothes it comes."""

import json
from collections.abc import Callable
from urllib.parse import quote, quote_plus, urlencode

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tardis_telemetry import scrub

NAMES = st.sampled_from(["apiKey", "api_key", "API-KEY", "token", "access_token", "password", "client_secret", "Authorization"])
# Marked at both ends, so that even half of a secret is found.
SECRETS = st.text(min_size=0, max_size=30).map(lambda text: f"zQ7{text}7Qz")
QUERY_SECRETS = SECRETS.map(lambda text: quote(text, safe=""))

CLOTHES: list[Callable[[str, str], str]] = [
    lambda name, secret: json.dumps({"exchange": "bitmex", name: secret, "n": 1}),
    lambda name, secret: json.dumps({name: secret}, separators=(",", ":"), ensure_ascii=False),
    lambda name, secret: json.dumps({"options": json.dumps({name: secret}), "n": 1}),
    lambda name, secret: "GET /replay?options=" + quote(json.dumps({name: secret, "n": [1]})) + " 200",
    lambda name, secret: "GET /replay?options=" + quote_plus(json.dumps({name: secret}, separators=(",", ":"))),
    lambda name, secret: "https://host/path?" + urlencode({"a": 1, name: secret, "b": 2}),
    lambda name, secret: repr({name: secret}),
    lambda _, secret: f"connecting to nats://user:{quote(secret, safe='')}@host:4222",
]


@settings(deadline=None)
@given(st.sampled_from(range(len(CLOTHES))), NAMES, SECRETS)
def test_secrets_are_masked(clothes: int, name: str, secret: str) -> None:
    shown = scrub(CLOTHES[clothes](name, secret))
    assert "zQ7" not in shown
    assert "7Qz" not in shown
    assert "***" in shown


@settings(deadline=None)
@given(st.text(max_size=300))
def test_scrubbing_twice_changes_nothing_more(text: str) -> None:
    once = scrub(text)
    assert scrub(once) == once


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("slice fetched from https://api.tardis.dev/v1/data-feeds/bitmex?from=2020-02-01", None),
        ("wss://stream.binance.com:9443/stream?streams=btcusdt@trade", None),
        ("Authorization: Bearer TD.abc.def", "Authorization: ***"),
        ("sent Bearer TD.abc-def to host", "sent Bearer *** to host"),
        ("redis://:pa@ss@host/0", "redis://***@host/0"),
        ('{"apiKey":"a\\"b","exchange":"bitmex"}', '{"apiKey":"***","exchange":"bitmex"}'),
        ("?apiKey=abc&exchange=bitmex", "?apiKey=***&exchange=bitmex"),
        ("%22apiKey%22%3A%22abc%22%2C%22x%22", "%22apiKey%22%3A%22***%22%2C%22x%22"),
    ],
)
def test_what_is_not_secret_stays_readable(text: str, shown: str | None) -> None:
    assert scrub(text) == (text if shown is None else shown)
