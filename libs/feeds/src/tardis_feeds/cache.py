"""The slice cache: files that appear whole or not at all."""

from __future__ import annotations

import os
import uuid
from pathlib import Path

from .plan import SliceKey

SUFFIXES = {"zstd": ".zst", "gzip": ".gz"}


class SliceCache:
    """Two processes may fill one cache: each writes under a name of its own and renames when done."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def find(self, key: SliceKey) -> Path | None:
        base = key.path(self.root)
        for suffix in SUFFIXES.values():
            path = base.with_name(base.name + suffix)
            if path.exists():
                return path
        return None

    def young(self, key: SliceKey) -> Path:
        """Where a download may be written; `keep` makes it a slice."""
        folder = key.path(self.root).parent
        folder.mkdir(parents=True, exist_ok=True)
        return folder / f".{uuid.uuid4().hex}.part"

    def keep(self, young: Path, key: SliceKey, encoding: str) -> Path:
        base = key.path(self.root)
        path = base.with_name(base.name + SUFFIXES[encoding])
        os.replace(young, path)
        return path
