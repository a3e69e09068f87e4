"""The hand-off: what a worker writes to disk reaches the queue, and through it the publishers."""

from .errors import HandoffError, SpoolBusy, SpoolDamage, TornTail, UnknownVersion
from .forwarder import Forwarder
from .log import SpoolLog
from .packing import pack_lanes
from .provision import ACK_WAIT_S, IN_PROGRESS_S, dead_letter_subject, lane_durable, lane_subject, provision, stream_name
from .reader import LogReader, Position
from .segment import LanePack
from .spool import Spool

__all__ = [
    "ACK_WAIT_S",
    "IN_PROGRESS_S",
    "Forwarder",
    "HandoffError",
    "LanePack",
    "LogReader",
    "Position",
    "Spool",
    "SpoolBusy",
    "SpoolDamage",
    "SpoolLog",
    "TornTail",
    "UnknownVersion",
    "dead_letter_subject",
    "lane_durable",
    "lane_subject",
    "pack_lanes",
    "provision",
    "stream_name",
]
