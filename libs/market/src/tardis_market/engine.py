"""One name for both halves: compiled if it was built, else plain Python. TARDIS_PURE=1 asks for plain Python."""

from __future__ import annotations

import os

from . import encode, mapping, repeats

COMPILED = False
encode_ndjson = encode.encode_ndjson
encode_frames = encode.encode_frames
map_block = mapping.map_block
mark_repeats = repeats.mark_repeats

if os.environ.get("TARDIS_PURE") != "1":
    try:
        import tardis_market._c.encode as fast_encode
        import tardis_market._c.repeats as fast_repeats
        import tardis_market._c.scan as fast_scan
    except ImportError:
        pass
    else:
        COMPILED = True
        encode_ndjson = fast_encode.encode_ndjson
        encode_frames = fast_encode.encode_frames
        map_block = fast_scan.map_block
        mark_repeats = fast_repeats.mark_repeats

__all__ = ["COMPILED", "encode_frames", "encode_ndjson", "map_block", "mark_repeats"]
