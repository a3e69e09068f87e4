"""Which half is in use, and that the plain one is enough."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

SCRIPT = """
from tardis_bronze import COMPILED, BronzeStream, peek, read_pack, write_pack
from tardis_market.records import Trade
trade = Trade("bitmex", "XBTUSD", "1", "1", "2", "buy", 1580515200123, 15805152001234567)
(lane,) = BronzeStream(source="p", origin=2, stream_id="s", meta={}).encode([trade], 1)
print(COMPILED, BronzeStream.__module__, peek(read_pack(write_pack(lane)).events()[0]).event_id.hex())
"""


def run(pure: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], env=os.environ | {"TARDIS_PURE": pure}, capture_output=True, text=True, check=True
    )
    return done.stdout.split()


def test_the_plain_half_can_be_asked_for() -> None:
    assert run("1")[:2] == ["False", "tardis_bronze.stream"]


def test_the_compiled_half_is_taken_where_it_was_built() -> None:
    pytest.importorskip("tardis_bronze._c.write", reason="compiled half is not built")
    compiled, module, event_id = run("0")
    assert (compiled, module) == ("True", "tardis_bronze._c.write")
    assert event_id == run("1")[2]
