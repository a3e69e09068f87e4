"""Logs, metrics and traces of all services. The metrics themselves are declared in `tardis_telemetry.catalogue`."""

from tardis_telemetry.children import ChildMetrics, own_samples
from tardis_telemetry.context import log_context
from tardis_telemetry.logs import Logger, configure_logs, get_logger
from tardis_telemetry.metrics import REGISTRY, Metric, declared, render
from tardis_telemetry.scrubbing import scrub
from tardis_telemetry.traces import Span, configure_traces, span

__all__ = [
    "REGISTRY",
    "ChildMetrics",
    "Logger",
    "Metric",
    "Span",
    "configure_logs",
    "configure_traces",
    "declared",
    "get_logger",
    "log_context",
    "own_samples",
    "render",
    "scrub",
    "span",
]
