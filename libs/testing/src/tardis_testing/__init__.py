"""Real servers for tests."""

from .nats_server import NatsServer
from .processes import Program, free_port, wait_until
from .road import Road, answers

__all__ = ["NatsServer", "Program", "Road", "answers", "free_port", "wait_until"]
