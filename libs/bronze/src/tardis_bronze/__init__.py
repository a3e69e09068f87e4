"""Bronze: normalized records as protobuf events, with stable ids, in packs; and the kit that reads them again."""

from .consumer import EventHead, decode, peek
from .engine import COMPILED, BronzeStream
from .envelope import LaneEvents
from .errors import BronzeError, EventError, PackError
from .identity import lane_of
from .ledger import Ledger, Report, SeriesReport, Verdict
from .pack import Pack, coalesce, read_pack, write_pack
from .restore import to_record

__all__ = [
    "COMPILED",
    "BronzeError",
    "BronzeStream",
    "EventError",
    "EventHead",
    "LaneEvents",
    "Ledger",
    "Pack",
    "PackError",
    "Report",
    "SeriesReport",
    "Verdict",
    "coalesce",
    "decode",
    "lane_of",
    "peek",
    "read_pack",
    "to_record",
    "write_pack",
]
