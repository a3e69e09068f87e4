"""One module per exchange holds all that is known about it."""

from __future__ import annotations

from ..errors import UnknownExchange
from . import bitmex
from .exchange import Exchange, Filter, Since, not_supported

#: Every exchange id of the API, in the order in which error texts list them.
EXCHANGES = (
    "aster",
    "aster-futures",
    "bitmex",
    "deribit",
    "binance-futures",
    "binance-delivery",
    "binance-european-options",
    "binance",
    "ftx",
    "okex-futures",
    "okex-options",
    "okex-swap",
    "okex",
    "okex-spreads",
    "huobi-dm",
    "huobi-dm-swap",
    "huobi-dm-linear-swap",
    "huobi",
    "bitfinex-derivatives",
    "bitfinex",
    "coinbase",
    "coinbase-international",
    "cryptofacilities",
    "kraken",
    "bitstamp",
    "gemini",
    "poloniex",
    "bybit",
    "bybit-spot",
    "bybit-options",
    "phemex",
    "delta",
    "ftx-us",
    "binance-us",
    "gate-io-futures",
    "mexc-futures",
    "gate-io",
    "okcoin",
    "bitflyer",
    "hitbtc",
    "coinflex",
    "binance-jersey",
    "binance-dex",
    "upbit",
    "ascendex",
    "dydx",
    "dydx-v4",
    "serum",
    "mango",
    "huobi-dm-options",
    "star-atlas",
    "crypto-com",
    "kucoin",
    "kucoin-futures",
    "bitnomial",
    "woo-x",
    "blockchain-com",
    "bitget",
    "bitget-futures",
    "hyperliquid",
    "lighter",
    "bullish",
    "mexc",
    "polymarket",
)

_BUILT: dict[str, Exchange] = {module.EXCHANGE.id: module.EXCHANGE for module in (bitmex,)}


def find_exchange(exchange: str) -> Exchange:
    if exchange not in EXCHANGES:
        known = ", ".join(EXCHANGES)
        raise UnknownExchange(f'Invalid "exchange" argument: {exchange}. Please provide one of the following exchanges: {known}.')
    try:
        return _BUILT[exchange]
    except KeyError:
        raise UnknownExchange(f"{exchange} cannot be normalized yet") from None


__all__ = ["EXCHANGES", "Exchange", "Filter", "Since", "find_exchange", "not_supported"]
