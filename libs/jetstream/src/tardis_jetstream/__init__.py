"""NATS JetStream as the queue, the NATS backend and the tools see it."""

from .connection import Access, Connection, Login, access, stored_already
from .errors import JetStreamError, Refused, Unavailable
from .pull import Delivery, Puller
from .reading import find_stream, read_stream

__all__ = [
    "Access",
    "Connection",
    "Delivery",
    "JetStreamError",
    "Login",
    "Puller",
    "Refused",
    "Unavailable",
    "access",
    "find_stream",
    "read_stream",
    "stored_already",
]
