"""The compiled half. Other packages `cimport tardis_market._c.text` and `.levels`; their C needs the header beside them."""

from __future__ import annotations

from pathlib import Path


def get_include() -> str:
    """The folder of simd.h, for `include_dirs` of an extension that cimports from here."""
    return str(Path(__file__).parent)
