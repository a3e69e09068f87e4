"""Which half is used."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import tardis_market
from tardis_market import _c

SCRIPT = (
    "import tardis_market as m; print(m.COMPILED, m.map_block.__module__, m.encode_ndjson.__module__, m.mark_repeats.__module__)"
)


def chosen(**env: str) -> list[str]:
    environment = {key: value for key, value in os.environ.items() if key != "TARDIS_PURE"} | env
    return subprocess.run(
        [sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, check=True
    ).stdout.split()


def test_plain_python_can_be_asked_for() -> None:
    assert chosen(TARDIS_PURE="1") == ["False", "tardis_market.mapping", "tardis_market.encode", "tardis_market.repeats"]


def test_the_compiled_half_is_used_if_it_is_there(compiled: SimpleNamespace) -> None:
    assert chosen() == ["True", "tardis_market._c.scan", "tardis_market._c.encode", "tardis_market._c.repeats"]


def test_other_packages_find_what_they_cimport() -> None:
    folder = Path(_c.get_include())
    assert {"simd.h", "text.pxd", "levels.pxd", "json.pxd"} <= {path.name for path in folder.iterdir()}


def test_public_names_exist() -> None:
    assert all(hasattr(tardis_market, name) for name in tardis_market.__all__)
