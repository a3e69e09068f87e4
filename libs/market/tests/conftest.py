"""Both halves of the engine, so that a test can ask the same of each."""

from __future__ import annotations

import importlib
import json
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tardis_market import encode, mapping, repeats

# How fast an example runs says more about the machine than about us.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")


def _compiled() -> SimpleNamespace:
    try:
        scan, fast_encode, fast_repeats = [
            importlib.import_module(f"tardis_market._c.{name}") for name in ("scan", "encode", "repeats")
        ]
    except ImportError:
        pytest.skip("the compiled half is not built")
    return SimpleNamespace(
        map_block=scan.map_block,
        encode_ndjson=fast_encode.encode_ndjson,
        encode_frames=fast_encode.encode_frames,
        mark_repeats=fast_repeats.mark_repeats,
    )


def _pure() -> SimpleNamespace:
    return SimpleNamespace(
        map_block=mapping.map_block,
        encode_ndjson=encode.encode_ndjson,
        encode_frames=encode.encode_frames,
        mark_repeats=repeats.mark_repeats,
    )


@pytest.fixture(scope="session")
def pure() -> SimpleNamespace:
    return _pure()


@pytest.fixture(scope="session")
def compiled() -> SimpleNamespace:
    return _compiled()


@pytest.fixture(params=["pure", "compiled"], scope="session")
def half(request: pytest.FixtureRequest) -> SimpleNamespace:
    return _pure() if request.param == "pure" else _compiled()


@pytest.fixture(scope="session")
def corpus() -> Any:
    """`corpus(name)` reads one of its files."""
    folder = Path(os.environ.get("TARDIS_CORPUS", Path(__file__).parents[4] / "shared" / "corpus"))
    if not folder.is_dir():
        pytest.skip("no corpus: set TARDIS_CORPUS")
    return lambda name: json.loads((folder / f"{name}.json").read_text())
