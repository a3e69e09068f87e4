"""What JetStream may answer.

JetStreamError
├── Unavailable   recoverable: no connection, no answer in time, no room; try again
└── Refused       the server will say no again: wrong credentials, missing stream, too large
"""

from __future__ import annotations


class JetStreamError(Exception):
    pass


class Unavailable(JetStreamError):
    pass


class Refused(JetStreamError):
    pass
