"""NATS JetStream as the queue, the NATS backend and the tools see it."""

from .access import Access, Login, access
from .answers import publish_answer, stored_already
from .connection import Connection
from .errors import JetStreamError, NotFound, Refused, TooLarge, Unavailable
from .pull import Delivery, Puller
from .reading import find_stream, read_stream

__all__ = [
    "Access",
    "Connection",
    "Delivery",
    "JetStreamError",
    "Login",
    "NotFound",
    "Puller",
    "Refused",
    "TooLarge",
    "Unavailable",
    "access",
    "find_stream",
    "publish_answer",
    "read_stream",
    "stored_already",
]
