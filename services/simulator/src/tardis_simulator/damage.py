"""Bodies that are wrong on purpose: a line that is no message, or compressed data that breaks half-way."""

import gzip
import zlib

import zstandard

from tardis_simulator.slices import GZIP_LEVEL, Pantry, Slice
from tardis_simulator.store import ZSTD_LEVEL

GARBAGE_LINE = b"this line is not a message\n"

# After a flushed block both formats expect a block header; all ones is one that neither has.
_NO_BLOCK = b"\xff" * 64


def build_damaged(pantry: Pantry, wanted: Slice, garbage_line: bool, garbage: bool) -> bytes:
    text = b"".join(pantry.texts(wanted))
    if garbage_line:
        text += GARBAGE_LINE
    if garbage:
        return break_off(text, wanted.compression)
    return gzip.compress(text, GZIP_LEVEL, mtime=0) if wanted.compression == "gzip" else zstandard.compress(text, ZSTD_LEVEL)


def break_off(text: bytes, compression: str) -> bytes:
    """Half of the text can be unpacked, then the decoder must complain."""
    half = text[: len(text) // 2]
    if compression == "zstd":
        frame = zstandard.ZstdCompressor(ZSTD_LEVEL).compressobj()
        return bytes(frame.compress(half) + frame.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK)) + _NO_BLOCK
    stream = zlib.compressobj(GZIP_LEVEL, wbits=zlib.MAX_WBITS | 16)
    return stream.compress(half) + stream.flush(zlib.Z_SYNC_FLUSH) + _NO_BLOCK
