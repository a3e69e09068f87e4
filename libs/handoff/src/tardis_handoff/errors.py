"""What can go wrong between a worker and the queue; what the queue itself answers is `tardis_jetstream.JetStreamError`.

HandoffError
└── SpoolDamage   bytes on disk that are not a whole group; says where
"""

from __future__ import annotations

from pathlib import Path


class HandoffError(Exception):
    pass


class SpoolDamage(HandoffError):
    def __init__(self, path: Path, offset: int, reason: str) -> None:
        super().__init__(f"{path.parent.name}/{path.name} at byte {offset}: {reason}")
        self.path, self.offset, self.reason = path, offset, reason
