"""Spans against a collector that listens on loopback, and the silence without one."""

import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tardis_telemetry import configure_traces, span


class Collector(HTTPServer):
    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Receive)
        self.requests: list[ExportTraceServiceRequest] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Receive(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        assert isinstance(self.server, Collector)
        assert self.path == "/v1/traces"
        body = self.rfile.read(int(self.headers["content-length"]))
        if self.headers.get("content-encoding") == "gzip":
            import gzip

            body = gzip.decompress(body)
        self.server.requests.append(ExportTraceServiceRequest.FromString(body))
        self.send_response(200)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def collector() -> Iterator[Collector]:
    server = Collector()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    configure_traces(None, "test")
    server.shutdown()
    thread.join()
    server.server_close()


def test_spans_reach_the_collector_without_secrets(collector: Collector) -> None:
    configure_traces(collector.url, "gateway")
    with span("replay", exchange="bitmex", api_key="s3cret"), span("fetch slice") as inner:
        inner.set(bytes=7, url="http://u:s3cret@host")
    with pytest.raises(ValueError, match="token"), span("broken"):
        raise ValueError("token=s3cret")
    configure_traces(None, "gateway")

    (resource,) = collector.requests[0].resource_spans
    spans = {s.name: s for request in collector.requests for r in request.resource_spans for g in r.scope_spans for s in g.spans}
    assert set(spans) == {"replay", "fetch slice", "broken"}
    assert spans["fetch slice"].parent_span_id == spans["replay"].span_id
    assert {a.key: a.value.int_value for a in spans["fetch slice"].attributes if a.key == "bytes"} == {"bytes": 7}
    assert spans["broken"].status.message == "ValueError: token=***"
    assert any(a.key == "service.name" and a.value.string_value == "gateway" for a in resource.resource.attributes)
    assert not any(b"s3cret" in request.SerializeToString() for request in collector.requests)


def test_without_a_collector_spans_cost_no_import() -> None:
    script = (
        "import sys, tardis_telemetry as t\n"
        "t.configure_traces(None, 'x')\n"
        "with t.span('a', b=1) as s: s.set(c=2)\n"
        "assert not any(m.startswith('opentelemetry') for m in sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=30)


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    with pytest.raises(RuntimeError, match=r"tardis-telemetry\[traces\]"):
        configure_traces("http://127.0.0.1:1", "x")
