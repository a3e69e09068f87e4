"""Traces by OpenTelemetry, if a collector is configured; otherwise nothing of it is even imported."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tardis_telemetry.scrubbing import MASK, is_sensitive, scrub

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.trace import Span as OtelSpan
    from opentelemetry.trace import Tracer

Attribute = str | int | float | bool


class _Off:
    """The state without a collector."""

    @contextmanager
    def span(self, name: str, attributes: dict[str, Attribute]) -> Iterator[Span]:
        yield Span(None)

    def close(self) -> None:
        pass


class _On:
    def __init__(self, provider: TracerProvider, tracer: Tracer) -> None:
        self._provider = provider
        self._tracer = tracer

    @contextmanager
    def span(self, name: str, attributes: dict[str, Attribute]) -> Iterator[Span]:
        # OpenTelemetry would export an exception's text as it stands, with whatever secrets are in it.
        with self._tracer.start_as_current_span(name, record_exception=False, set_status_on_exception=False) as otel:
            span = Span(otel)
            span.set(**attributes)
            try:
                yield span
            except BaseException as error:
                span.failed(error)
                raise

    def close(self) -> None:
        self._provider.shutdown()


_state: _Off | _On = _Off()


class Span:
    """What a traced block may add to its span; does nothing when traces are off."""

    def __init__(self, otel: OtelSpan | None) -> None:
        self._otel = otel

    def set(self, **attributes: Attribute) -> None:
        if self._otel is not None:
            self._otel.set_attributes({name: _clean(name, value) for name, value in attributes.items()})

    def failed(self, error: BaseException) -> None:
        if self._otel is not None:
            from opentelemetry.trace import Status, StatusCode

            self._otel.set_status(Status(StatusCode.ERROR, scrub(f"{type(error).__name__}: {error}")))


def configure_traces(endpoint: str | None, service: str) -> None:
    """Send spans to an OTLP/HTTP collector (`http://collector:4318`), or none at all."""
    global _state  # noqa: PLW0603
    _state.close()
    _state = _connect(endpoint, service) if endpoint else _Off()


@contextmanager
def span(name: str, **attributes: Attribute) -> Iterator[Span]:
    """`with span("fetch slice", exchange="bitmex") as s: … s.set(bytes=n)`"""
    with _state.span(name, attributes) as opened:
        yield opened


def _connect(endpoint: str, service: str) -> _On:
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError as missing:
        raise RuntimeError("traces need the extra: install tardis-telemetry[traces]") from missing
    url = endpoint.rstrip("/")
    provider = TracerProvider(resource=Resource.create({"service.name": service}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(url if url.endswith("/v1/traces") else f"{url}/v1/traces")))
    return _On(provider, provider.get_tracer("tardis"))


def _clean(name: str, value: Attribute) -> Attribute:
    if is_sensitive(name):
        return MASK
    return scrub(value) if isinstance(value, str) else value
