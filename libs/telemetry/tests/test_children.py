"""A parent is scraped for its children too."""

from prometheus_client.parser import text_string_to_metric_families

from tardis_telemetry import ChildMetrics, catalogue, own_samples, render
from tardis_telemetry.children import Sample


def scraped(children: ChildMetrics) -> dict[tuple[str, str], float]:
    body, _ = render(children)
    families = list(text_string_to_metric_families(body.decode()))
    assert len({family.name for family in families}) == len(families)
    return {(s.name, str(sorted(s.labels.items()))): s.value for family in families for s in family.samples}


def test_counts_of_living_and_dead_children_add_up_and_gauges_end_with_them() -> None:
    counted: Sample = ("tardis_spool_groups", "tardis_spool_groups_total", (), 5.0)
    measured: Sample = ("tardis_spool_disk_bytes", "tardis_spool_disk_bytes", (), 100.0)
    catalogue.SPOOL_GROUPS.inc(0)
    own = scraped(ChildMetrics())["tardis_spool_groups_total", "[]"]
    disk = scraped(ChildMetrics())["tardis_spool_disk_bytes", "[]"]
    children = ChildMetrics()
    children.take("a", [counted, measured])
    children.take("b", [counted])
    assert scraped(children)["tardis_spool_groups_total", "[]"] == own + 10
    assert scraped(children)["tardis_spool_disk_bytes", "[]"] == disk + 100
    children.take("a", [("tardis_spool_groups", "tardis_spool_groups_total", (), 7.0), measured])
    assert scraped(children)["tardis_spool_groups_total", "[]"] == own + 12
    children.ended("a")
    children.take("a", [counted])  # its successor counts from zero
    assert scraped(children)["tardis_spool_groups_total", "[]"] == own + 17
    assert scraped(children)["tardis_spool_disk_bytes", "[]"] == disk


def test_labels_that_only_a_child_knows_are_shown() -> None:
    children = ChildMetrics()
    labels = (("exchange", "only-here"),)
    children.take("a", [("tardis_slices_fetched", "tardis_slices_fetched_total", labels, 3.0)])
    assert scraped(children)["tardis_slices_fetched_total", str(list(labels))] == 3


def test_own_samples_are_what_was_counted_here() -> None:
    catalogue.SLICES_CACHE_HITS.labels("bitmex").inc(2)
    found = {(name, labels): value for _, name, labels, value in own_samples()}
    assert found["tardis_slices_cache_hits_total", (("exchange", "bitmex"),)] >= 2
    assert all(value for value in found.values())
