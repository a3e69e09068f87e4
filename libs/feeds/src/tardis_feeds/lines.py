"""Stored slices as blocks of whole lines, decompressed piece by piece."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import zstandard

from .errors import SliceDamaged

READ_BYTES = 16 << 10  # compressed: about 150 KB of lines
MAX_LINE_BYTES = 64 << 20


def open_slice(path: Path) -> BinaryIO:
    try:
        return path.open("rb")
    except FileNotFoundError:  # another process found it damaged, or the cache was cleared
        raise SliceDamaged(f"{path.name}: the file is gone") from None


def read_blocks(file: BinaryIO) -> Iterator[bytes]:
    """Blocks that end with a newline. A slice that stops short of its compressed end is damaged, not short."""
    rest = b""
    for piece in _decompressed(file, Path(file.name)):
        cut = piece.rfind(b"\n") + 1
        if cut:
            yield rest + piece[:cut]
            rest = piece[cut:]
        else:
            rest += piece
            if len(rest) > MAX_LINE_BYTES:
                raise SliceDamaged(f"{Path(file.name).name}: a line is longer than {MAX_LINE_BYTES} bytes")
    if rest:
        yield rest + b"\n"


def _decompressed(file: BinaryIO, path: Path) -> Iterator[bytes]:
    new_frame = _gzip_member if path.suffix == ".gz" else zstandard.ZstdDecompressor().decompressobj
    frame: Any = None
    begun = False
    try:
        while data := file.read(READ_BYTES):
            begun = True
            while data:
                frame = frame or new_frame()
                piece = frame.decompress(data)
                data = frame.unused_data if frame.eof else b""
                if frame.eof:
                    frame = None
                if piece:
                    yield piece
    except (zstandard.ZstdError, zlib.error) as error:
        raise SliceDamaged(f"{path.name}: {error}") from error
    if frame is not None or not begun:  # a minute without messages is an empty frame, not an empty file
        raise SliceDamaged(f"{path.name}: the compressed data ends too early")


def _gzip_member() -> Any:
    return zlib.decompressobj(wbits=31)
