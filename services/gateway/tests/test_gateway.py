"""The gateway as a process, in front of a real simulator: answers, errors, cuts and life cycle."""

from __future__ import annotations

import http.client
import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tardis_testing import Program, Road, answers, free_port, wait_until

MINUTE = {"exchange": "bitmex", "from": "2020-02-01", "to": "2020-02-01T00:01", "symbols": ["XBTUSD"], "dataTypes": ["trade"]}


class Served:
    """A gateway without any backend, and its simulator."""

    def __init__(self, folder: Path, **settings: str) -> None:
        self.folder, self.port, self.api_port = folder, free_port(), free_port()
        environment = {
            "TM_PORT": str(self.port),
            "TM_WORKERS": "1",
            "TM_API_URL": f"http://127.0.0.1:{self.api_port}/v1",
            "TM_CACHE_DIR": str(folder / "cache"),
            "TM_HANDOFF_SPOOL_DIR": str(folder / "spool"),
            "TM_SIMULATOR_PORT": str(self.api_port),
            "TM_SIMULATOR_RATE": "6000",
            "TM_SIMULATOR_DATA_DIR": str(folder / "data"),
            **settings,
        }
        self.simulator = Program([sys.executable, "-m", "tardis_simulator"], folder / "simulator.log", environment)
        self.gateway = Program([sys.executable, "-m", "tardis_gateway"], folder / "gateway.log", environment)

    def start(self) -> None:
        self.simulator.start()
        self.gateway.start()
        for url in (f"http://127.0.0.1:{self.api_port}", f"http://127.0.0.1:{self.port}"):
            wait_until(partial(answers, url, "/ready"), within=60, what=f"{url} is ready")

    def stop(self) -> None:
        for program in (self.gateway, self.simulator):
            if program.running:
                program.kill()

    def get(self, path: str, method: str = "GET") -> tuple[int, dict[str, str], bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, path)
            response = connection.getresponse()
            return response.status, {key.lower(): value for key, value in response.getheaders()}, response.read()
        finally:
            connection.close()

    def replay(self, **options: Any) -> tuple[int, dict[str, str], bytes]:
        return self.get(f"/replay-normalized?options={quote(json.dumps({**MINUTE, **options}))}")

    def faults(self, fault: dict[str, Any] | None) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self.api_port, timeout=10)
        connection.request("POST" if fault else "DELETE", "/faults", json.dumps(fault), {"Content-Type": "application/json"})
        assert connection.getresponse().status < 300
        connection.close()

    @staticmethod
    def has_reset(client: socket.socket) -> bool:
        """Whether the connection is gone although nothing was read: reading would let a polite close go through, too."""
        poll = select.poll()
        poll.register(client, 0)
        return bool(poll.poll(5000))

    def start_long_replay(self, client: socket.socket, to: str = "2020-02-01T00:15") -> None:
        options = quote(json.dumps({**MINUTE, "symbols": [], "to": to, "dataTypes": ["trade", "book_change"]}))
        client.sendall(f"GET /replay-normalized?options={options} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())

    def children(self) -> list[int]:
        found = subprocess.run(["pgrep", "-P", str(self.gateway.pid)], capture_output=True, text=True, check=True)
        return [int(pid) for pid in found.stdout.split()]

    def active(self) -> float:
        text = self.get("/metrics")[2].decode()
        return float(next(line.split()[1] for line in text.splitlines() if line.startswith("tardis_gateway_replays_active ")))


def read_all(client: socket.socket) -> bytes:
    found = bytearray()
    while piece := client.recv(1 << 16):
        found += piece
    return bytes(found)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    made = Served(tmp_path_factory.mktemp("gateway"), TM_CLIENT_STALL_TIMEOUT_S="2", TM_SIMULATOR_API_KEY="the-key")
    try:
        made.start()
        yield made
    finally:
        made.stop()


def test_a_replay_answers_lines(served: Served) -> None:
    status, headers, body = served.replay()
    assert (status, headers["content-type"], headers["transfer-encoding"]) == (200, "application/x-json-stream", "chunked")
    lines = [json.loads(line) for line in body.splitlines()]
    assert len(lines) > 100
    assert list(lines[0]) == ["type", "symbol", "exchange", "id", "price", "amount", "side", "timestamp", "localTimestamp"]
    assert {line["symbol"] for line in lines} == {"XBTUSD"}
    assert served.replay(symbols=["xbtusd"])[2] == body
    assert served.replay(to="2020-02-01T00:00")[::2] == (200, b"")


def test_without_a_backend_there_is_no_spool_and_no_forwarder(served: Served) -> None:
    served.replay()
    assert not (served.folder / "spool").exists()
    assert "forwarder" not in served.gateway.text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"exchange": "foo"}, "normalizeTrades: foo not supported"),
        ({"exchange": None}, "normalizeTrades: undefined not supported"),
        ({"dataTypes": ["foo"]}, "Can't normalize data without any normalizers provided"),
        ({"dataTypes": ["option_summary"]}, "normalizeOptionsSummary: bitmex not supported"),
        ({"dataTypes": ["book_snapshot_x_1s"]}, "invalid depth: x, data type: book_snapshot_x_1s"),
        ({"dataTypes": ["trade_bar"]}, "invalid data type: trade_bar"),
        ({"from": "xx"}, 'Invalid "from" argument: xx. Please provide valid date string.'),
    ],
)
def test_errors_before_the_first_byte(served: Served, options: dict[str, Any], message: str) -> None:
    status, headers, body = served.replay(**options)
    assert (status, headers["content-type"]) == (500, "application/x-json-stream")
    assert json.loads(body) == {"message": message}


def test_bad_json_has_no_content_type(served: Served) -> None:
    for query in ("", "?options=", "?options={bad"):
        status, headers, body = served.get(f"/replay-normalized{query}")
        assert status == 500
        assert "content-type" not in headers
        assert "options" in json.loads(body)["message"]


def test_the_vendors_refusal_is_passed_on(served: Served) -> None:
    status, _, body = served.replay(**{"from": "2020-02-02", "to": "2020-02-02T00:01"})
    assert status == 401
    error = json.loads(body)
    assert error["responseText"] == '{"code": 100, "message": "Unauthorized, please provide valid API key."}'
    assert error["message"].startswith("HttpError: status code: 401, response text: {")
    feed = f"http://127.0.0.1:{served.api_port}/v1/data-feeds/bitmex"
    assert error["url"].startswith(f"{feed}?from=2020-02-02T00:00:00.000Z&offset=0&")
    assert served.replay(**{"from": "2020-02-02", "to": "2020-02-02T00:01", "apiKey": "the-key"})[0] == 200
    assert "the-key" not in served.gateway.text


def test_other_paths_and_methods_are_404_without_body(served: Served) -> None:
    for method, path in (
        ("GET", "/foo"),
        ("GET", "/Replay-normalized"),
        ("HEAD", "/health-check"),
        ("OPTIONS", "/replay-normalized"),
    ):
        status, _, body = served.get(path, method)
        assert (status, body) == (404, b"")


def test_health(served: Served) -> None:
    for path in ("/health-check", "/health-check/"):
        status, headers, body = served.get(path)
        assert (status, headers["content-type"]) == (200, "application/json")
        health = json.loads(body)
        assert list(health) == ["status", "uptimeHours", "timestampMs", "memoryInfo"]
        assert health["memoryInfo"]["rssMB"] > 1
    assert served.get("/live")[0] == 200


def test_metrics_include_what_the_workers_count(served: Served) -> None:
    def fetched() -> float:
        text = served.get("/metrics")[2].decode()
        found = [line for line in text.splitlines() if line.startswith('tardis_slices_fetched_total{exchange="bitmex"}')]
        return float(found[0].split()[1]) if found else 0

    before = fetched()
    served.replay(**{"from": "2020-02-01T00:40", "to": "2020-02-01T00:42"})
    wait_until(lambda: fetched() == before + 2, within=10, what="two more slices")


def test_an_error_in_the_middle_is_the_last_line(served: Served) -> None:
    served.faults({"garbageLine": True, "match": {"minute": "2020-02-01T00:21"}})
    try:
        status, _, body = served.replay(**{"from": "2020-02-01T00:20", "to": "2020-02-01T00:22", "dataTypes": ["book_change"]})
    finally:
        served.faults(None)
    assert status == 200
    *lines, last = body.split(b"\n")
    assert len(lines) > 100
    assert list(json.loads(last)) == ["message"]
    assert "bitmex" in served.gateway.text
    assert served.replay()[0] == 200


def test_a_client_that_leaves_frees_its_place(served: Served) -> None:
    with socket.create_connection(("127.0.0.1", served.port)) as client:
        options = quote(json.dumps({**MINUTE, "to": "2020-02-01T00:15", "dataTypes": ["book_change"]}))
        client.sendall(f"GET /replay-normalized?options={options} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        assert client.recv(1000).startswith(b"HTTP/1.1 200")
        assert served.active() == 1
    wait_until(lambda: served.active() == 0, within=2, what="the place is free")


def test_a_client_that_reads_nothing_is_cut(served: Served) -> None:
    before = len(served.gateway.text)
    with socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.connect(("127.0.0.1", served.port))
        served.start_long_replay(client)
        wait_until(lambda: served.active() == 1, what="the replay runs")
        assert served.replay()[0] == 200  # others go on meanwhile
        wait_until(lambda: served.active() == 0, within=20, what="the stalled client is cut")
        assert served.has_reset(client)
    said = served.gateway.text[before:]
    assert "client reads nothing and is cut off" in said
    assert "ERROR" not in said


def test_a_killed_worker_ends_its_replay_and_is_replaced(served: Served) -> None:
    with socket.create_connection(("127.0.0.1", served.port)) as client:
        served.start_long_replay(client)
        assert client.recv(1000).startswith(b"HTTP/1.1 200")
        for pid in served.children():
            os.kill(pid, signal.SIGKILL)
        rest = read_all(client)
    assert b'{"message":"The worker of this replay has ended"}' in rest
    wait_until(lambda: answers(f"http://127.0.0.1:{served.port}", "/ready") and served.replay()[0] == 200, what="a new worker")


def test_sigterm_ends_a_running_replay_in_time_and_exits_0(tmp_path: Path) -> None:
    served = Served(tmp_path, TM_DRAIN_TIMEOUT_S="1")
    try:
        served.start()
        with socket.create_connection(("127.0.0.1", served.port)) as client:
            served.start_long_replay(client)
            assert client.recv(1000).startswith(b"HTTP/1.1 200")
            started = time.monotonic()
            assert served.gateway.stop() == 0
            assert time.monotonic() - started < 15
    finally:
        served.stop()


def test_sigterm_to_every_process_lets_a_response_finish(tmp_path: Path) -> None:
    """As systemd stops a service."""
    served = Served(tmp_path, TM_DRAIN_TIMEOUT_S="30")
    try:
        served.start()
        with socket.create_connection(("127.0.0.1", served.port)) as client:
            served.start_long_replay(client, to="2020-02-01T00:05")
            first = client.recv(1000)
            for pid in (*served.children(), served.gateway.pid):
                os.kill(pid, signal.SIGTERM)
            body = first + read_all(client)
        assert served.gateway.wait() == 0
    finally:
        served.stop()
    assert body.endswith(b"0\r\n\r\n")
    assert b"has ended" not in body
    assert b"T00:04:5" in body[-100_000:]


def test_a_drained_spool_is_empty_when_the_gateway_says_so(tmp_path: Path) -> None:
    with Road(tmp_path) as road:
        assert len(b"".join(road.replay())) > 100_000
        assert road.gateway.stop() == 0
        assert "spool is empty bytes=0" in road.gateway.text
        assert not list((tmp_path / "spool").rglob("*.seg"))


def test_a_port_in_use_is_named(served: Served) -> None:
    command = [sys.executable, "-m", "tardis_gateway", "--port", str(served.port)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    assert (done.returncode, done.stderr) == (1, f"port: {served.port} cannot be listened on (Address already in use)\n")


def test_wrong_settings_exit_with_one_line() -> None:
    def run(*words: str) -> tuple[int, str]:
        done = subprocess.run(
            [sys.executable, "-m", "tardis_gateway", *words], capture_output=True, text=True, timeout=30, check=False
        )
        return done.returncode, done.stderr

    code, text = run("--prot", "1")
    assert (code, "--port" in text, text.count("\n")) == (1, True, 1)
    code, text = run("--workers", "many")
    assert (code, "--workers" in text, text.count("\n")) == (2, True, 1)
    code, text = run("--handoff-backends", "nats")
    assert (code, "handoff-url" in text, text.count("\n")) == (2, True, 1)
    code, text = run("--handoff-url", "nats://a", "--handoff-pass", "very-secret", "--handoff-backends", "nats")
    assert (code, "very-secret" in text, text.count("\n")) == (2, False, 1)
