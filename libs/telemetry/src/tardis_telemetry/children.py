"""Metrics of child processes: they send their samples, the process that is scraped adds them to its own."""

from collections.abc import Iterable, Iterator

from prometheus_client.metrics_core import Metric as Family
from prometheus_client.samples import Sample as ExposedSample

from tardis_telemetry.metrics import REGISTRY

Labels = tuple[tuple[str, str], ...]
#: family, sample name, labels, value
Sample = tuple[str, str, Labels, float]
_Key = tuple[str, str, Labels]


def own_samples() -> list[Sample]:
    """What this process has counted and measured, to be sent to the one that is scraped; zeros are left out."""
    return [
        (family.name, sample.name, tuple(sorted(sample.labels.items())), sample.value)
        for family in REGISTRY.collect()
        if family.name.startswith("tardis_")
        for sample in family.samples
        if sample.value
    ]


class ChildMetrics:
    """The samples of all children, the living and the dead."""

    def __init__(self) -> None:
        self._living: dict[str, dict[_Key, float]] = {}
        self._counted: dict[_Key, float] = {}
        self._gauges = {family.name for family in REGISTRY.collect() if family.type == "gauge"}

    def take(self, child: str, samples: Iterable[Sample]) -> None:
        self._living[child] = {(family, name, labels): value for family, name, labels, value in samples}

    def ended(self, child: str) -> None:
        """What a child has counted stays counted; what it measured is over."""
        for key, value in self._living.pop(child, {}).items():
            if key[0] not in self._gauges:
                self._counted[key] = self._counted.get(key, 0) + value

    def collect(self) -> Iterator[Family]:
        """All families of this process, with the children's samples added."""
        for family in REGISTRY.collect():
            totals = {(sample.name, tuple(sorted(sample.labels.items()))): sample.value for sample in family.samples}
            for samples in (self._counted, *self._living.values()):
                for (name, sample, labels), value in samples.items():
                    if name == family.name:
                        totals[sample, labels] = totals.get((sample, labels), 0) + value
            merged = Family(family.name, family.documentation, family.type, family.unit)
            merged.samples = [ExposedSample(name, dict(labels), value) for (name, labels), value in totals.items()]
            yield merged
