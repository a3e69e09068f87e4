"""One registry of our own; a metric is declared once and carries its kind, labels and meaning."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeVar, cast

import prometheus_client
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector

Kind = Literal["counter", "gauge", "histogram"]
Collector = TypeVar("Collector", Counter, Gauge, Histogram)

# The `_created` series double the number of samples and nobody asks for them.
prometheus_client.disable_created_metrics()  # type: ignore[no-untyped-call]

REGISTRY = CollectorRegistry()
ProcessCollector(registry=REGISTRY)

LATENCY_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)

_SUFFIXES = {"counter": r".*_total", "gauge": r".*(?<!_total)", "histogram": r".*_(seconds|bytes)"}


@dataclass(frozen=True)
class Metric:
    """A row of the catalogue."""

    name: str
    kind: Kind
    labels: tuple[str, ...]
    meaning: str

    @property
    def part(self) -> str:
        return self.name.split("_")[1]


_declared: dict[str, tuple[Metric, Counter | Gauge | Histogram]] = {}


def declared() -> list[Metric]:
    return [metric for metric, _ in _declared.values()]


def counter(name: str, meaning: str, *labels: str) -> Counter:
    return _declare(Metric(name, "counter", labels, meaning), Counter, lambda: Counter(name, meaning, labels, registry=REGISTRY))


def gauge(name: str, meaning: str, *labels: str) -> Gauge:
    return _declare(Metric(name, "gauge", labels, meaning), Gauge, lambda: Gauge(name, meaning, labels, registry=REGISTRY))


def histogram(name: str, meaning: str, *labels: str, buckets: Sequence[float] = LATENCY_SECONDS) -> Histogram:
    metric = Metric(name, "histogram", labels, meaning)
    return _declare(metric, Histogram, lambda: Histogram(name, meaning, labels, registry=REGISTRY, buckets=buckets))


def _declare(metric: Metric, kind: type[Collector], make: Callable[[], Collector]) -> Collector:
    """The collector of this metric; the same one when a module is imported again."""
    if not re.fullmatch(r"tardis_[a-z]+_[a-z_]+(?<!_)", metric.name) or not re.fullmatch(_SUFFIXES[metric.kind], metric.name):
        raise ValueError(f"{metric.name}: not a name for a {metric.kind}")
    if metric.name in _declared:
        known, collector = _declared[metric.name]
        if known != metric or not isinstance(collector, kind):
            raise ValueError(f"{metric.name}: declared twice and not alike")
        return collector
    made = make()
    _declared[metric.name] = (metric, made)
    return made


class Collects(Protocol):
    def collect(self) -> Iterable[Any]: ...


def render(source: Collects = REGISTRY) -> tuple[bytes, str]:
    """Body and content type of `/metrics`."""
    return prometheus_client.generate_latest(cast(CollectorRegistry, source)), prometheus_client.CONTENT_TYPE_LATEST
