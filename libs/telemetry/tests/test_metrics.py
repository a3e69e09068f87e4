"""The catalogue, its names, and what a scrape sees."""

import importlib
from pathlib import Path

import pytest

from tardis_telemetry import REGISTRY, catalogue, declared, render
from tardis_telemetry.metrics import counter, gauge, histogram
from tardis_telemetry.reference import reference

REPOSITORY = Path(__file__).parents[3]


def test_counting_shows_in_the_scrape() -> None:
    catalogue.GATEWAY_HTTP_REQUESTS.labels(route="/replay", status="200").inc()
    catalogue.PUBLISHER_PUBLISH_SECONDS.labels(backend="nats").observe(0.003)
    catalogue.SPOOL_DISK_BYTES.set(42)
    body, content_type = render()
    assert content_type.startswith("text/plain")
    assert b'tardis_gateway_http_requests_total{route="/replay",status="200"} 1.0' in body
    assert b'tardis_publisher_publish_seconds_bucket{backend="nats",le="0.005"} 1.0' in body
    assert b"tardis_spool_disk_bytes 42.0" in body
    assert b"_created" not in body


def test_importing_again_registers_nothing_twice() -> None:
    before = [metric.name for metric in declared()]
    same = catalogue.SPOOL_GROUPS
    importlib.reload(catalogue)
    assert catalogue.SPOOL_GROUPS is same
    assert [metric.name for metric in declared()] == before


def test_every_metric_of_the_catalogue_is_exposed() -> None:
    exposed = {family.name for family in REGISTRY.collect()}
    assert {metric.name.removesuffix("_total") for metric in declared()} <= exposed
    assert all(metric.meaning.endswith(".") for metric in declared())


def test_names_follow_the_house_rule() -> None:
    for wrong in ("requests_total", "tardis_gateway_requests", "tardis_Gateway_x_total"):
        with pytest.raises(ValueError, match="not a name"):
            counter(wrong, "Wrong.")
    with pytest.raises(ValueError, match="not a name"):
        gauge("tardis_gateway_wrong_total", "Wrong.")
    with pytest.raises(ValueError, match="not a name"):
        histogram("tardis_gateway_wrong", "Wrong.")
    with pytest.raises(ValueError, match="not alike"):
        counter("tardis_spool_groups_total", "Another meaning.")


def test_the_committed_reference_is_current() -> None:
    assert (REPOSITORY / "docs" / "metrics.md").read_text(encoding="utf-8") == reference()
