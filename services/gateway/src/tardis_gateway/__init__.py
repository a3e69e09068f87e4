"""The gateway: HTTP and WebSocket routes over worker processes."""

from .server import Gateway

__all__ = ["Gateway"]
