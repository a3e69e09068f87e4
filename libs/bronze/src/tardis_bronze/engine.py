"""One name for both halves: compiled if it was built, else plain Python. TARDIS_PURE=1 asks for plain Python."""

from __future__ import annotations

import os

from .scan import scan_head
from .split import split
from .stream import BronzeStream

COMPILED = False

if os.environ.get("TARDIS_PURE") != "1":
    try:
        import tardis_bronze._c.read as fast_read
        import tardis_bronze._c.write as fast_write
    except ImportError:
        pass
    else:
        COMPILED = True
        BronzeStream = fast_write.BronzeStream  # type: ignore[misc]
        scan_head = fast_read.scan_head
        split = fast_read.split

__all__ = ["COMPILED", "BronzeStream", "scan_head", "split"]
