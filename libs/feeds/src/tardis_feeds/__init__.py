"""Vendor slices: planned, fetched, cached and read as blocks of lines."""

from .cache import SliceCache
from .errors import FeedError, SliceDamaged, SourceAway, SourceRefused
from .fetch import FetchLimits, SliceFetcher
from .lines import open_slice, read_blocks
from .plan import Filters, SliceKey, plan_slices
from .source import replay_blocks

__all__ = [
    "FeedError",
    "FetchLimits",
    "Filters",
    "SliceCache",
    "SliceDamaged",
    "SliceFetcher",
    "SliceKey",
    "SourceAway",
    "SourceRefused",
    "open_slice",
    "plan_slices",
    "read_blocks",
    "replay_blocks",
]
