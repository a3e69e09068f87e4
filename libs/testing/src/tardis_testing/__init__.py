"""Real servers for tests."""

from .nats_server import NatsServer
from .processes import Program, free_port, wait_until

__all__ = ["NatsServer", "Program", "free_port", "wait_until"]
