"""Fixtures for every test of the tree, found by pytest through the package's entry point."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from .nats_server import NatsServer

ROOT = Path(__file__).parents[4]


@pytest.fixture
def nats_server(tmp_path: Path) -> Iterator[NatsServer]:
    with NatsServer(tmp_path / "nats") as server:
        yield server


@pytest.fixture(scope="session")
def corpus() -> Path:
    """The folder of recorded exchange messages with the exact output that clients expect; it is not part of the repository."""
    folder = Path(os.environ.get("TARDIS_CORPUS", ROOT / "../shared/corpus"))
    if not folder.is_dir():
        pytest.skip("the corpus is not here: set TARDIS_CORPUS to its folder")
    return folder
