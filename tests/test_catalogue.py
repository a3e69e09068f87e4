"""The metric catalogue lists what is counted, nothing else."""

from __future__ import annotations

import re
from pathlib import Path

from tardis_telemetry import catalogue

ROOT = Path(__file__).parents[1]


def test_every_metric_of_the_catalogue_is_counted_somewhere() -> None:
    names = {name for name in vars(catalogue) if name.isupper()}
    assert len(names) > 20
    sources = [path for folder in ("libs", "services") for path in (ROOT / folder).glob("*/src/**/*.py")]
    words = {word for path in sources if path.name != "catalogue.py" for word in re.findall(r"[A-Z_]+", path.read_text())}
    assert names - words == set()
