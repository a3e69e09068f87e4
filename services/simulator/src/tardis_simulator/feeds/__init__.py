"""The exchanges that can be made up."""

from tardis_simulator.feeds.base import DISCONNECT, Feed, Minute, Symbol
from tardis_simulator.feeds.binance import Binance
from tardis_simulator.feeds.bitmex import Bitmex
from tardis_simulator.feeds.deribit import Deribit

FEEDS: dict[str, type[Feed]] = {feed.name: feed for feed in (Bitmex, Binance, Deribit)}

__all__ = ["DISCONNECT", "FEEDS", "Feed", "Minute", "Symbol"]
