"""The publisher: from the queue to one message bus."""

from .publisher import Publisher

__all__ = ["Publisher"]
