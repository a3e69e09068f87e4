"""What can go wrong between a worker and the queue; what the queue itself answers is `tardis_jetstream.JetStreamError`.

HandoffError
├── SpoolBusy        another forwarder works on this spool
├── SpoolDamage      bytes on disk that are not a whole group; says where
│   └── TornTail     the end of what a killed writer wrote: nobody has seen it
└── UnknownVersion   a segment that a newer program has written: left alone
"""

from __future__ import annotations

from pathlib import Path


class HandoffError(Exception):
    pass


class SpoolBusy(HandoffError):
    pass


class _AtPlace(HandoffError):
    def __init__(self, path: Path, offset: int, reason: str) -> None:
        super().__init__(f"{path.parent.name}/{path.name} at byte {offset}: {reason}")
        self.path, self.offset, self.reason = path, offset, reason


class SpoolDamage(_AtPlace):
    pass


class TornTail(SpoolDamage):
    pass


class UnknownVersion(_AtPlace):
    pass
