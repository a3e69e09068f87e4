"""The event bus: one contract, one backend per message bus."""

from .contract import DELIVERED, Backend, BackendError, Limits, Outcome, Status, dedup_id, key_of
from .delivery import Deliverer, Report, RetryPolicy

__all__ = [
    "DELIVERED",
    "Backend",
    "BackendError",
    "Deliverer",
    "Limits",
    "Outcome",
    "Report",
    "RetryPolicy",
    "Status",
    "dedup_id",
    "key_of",
]
