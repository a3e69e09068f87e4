"""Normalized market records: what they are, how exchanges are mapped to them, how they are written as JSON."""

from .datatypes import DataTypes, SnapshotSpec, TradeBarSpec, parse_data_types
from .engine import COMPILED, encode_frames, encode_ndjson, map_block, mark_repeats
from .errors import InvalidDataType, MappingError, MarketError, UnknownExchange, UnsupportedDataType
from .exchanges import EXCHANGES, Exchange, Filter, find_exchange

__all__ = [
    "COMPILED",
    "EXCHANGES",
    "DataTypes",
    "Exchange",
    "Filter",
    "InvalidDataType",
    "MappingError",
    "MarketError",
    "SnapshotSpec",
    "TradeBarSpec",
    "UnknownExchange",
    "UnsupportedDataType",
    "encode_frames",
    "encode_ndjson",
    "find_exchange",
    "map_block",
    "mark_repeats",
    "parse_data_types",
]
