"""Vendor slices: planned, fetched, cached and read as blocks of lines."""

from .cache import SliceCache
from .errors import FeedError, SliceDamaged, SourceAway, SourceRefused
from .fetch import SliceFetcher
from .lines import read_blocks
from .plan import Filters, SliceKey, plan_slices
from .source import replay_blocks

__all__ = [
    "FeedError",
    "Filters",
    "SliceCache",
    "SliceDamaged",
    "SliceFetcher",
    "SliceKey",
    "SourceAway",
    "SourceRefused",
    "plan_slices",
    "read_blocks",
    "replay_blocks",
]
