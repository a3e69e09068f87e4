"""What JetStream may answer.

JetStreamError
├── Unavailable   recoverable: no connection, no answer in time, no stream, no room; try again
└── Refused       the server will say no again: wrong credentials, no JetStream, settings that contradict each other
    ├── NotFound  nothing of that name
    └── TooLarge  this one message, whenever it is sent
"""

from __future__ import annotations


class JetStreamError(Exception):
    pass


class Unavailable(JetStreamError):
    pass


class Refused(JetStreamError):
    pass


class NotFound(Refused):
    pass


class TooLarge(Refused):
    pass
