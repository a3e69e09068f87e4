"""The program itself: real processes, real sockets, real signals."""

import gzip
import hashlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
import zstandard

FEED = "/v1/data-feeds"
FROM = "from=2020-02-01T00:00:00.000Z"

# As in test_classic: seed 1, 300 messages per minute, a disconnect in every 7th minute.
BINANCE_6 = "8b806700f8f6f0c1fb9b300ab9a0507d37c00595952e9ff6a43a44c57ce773a1"
BITMEX_0_TO_6 = (
    "c83f17c40b0e59f992a268c62066f8ef19140afa2edf1ca54fcdc24b38688d01",
    "2ae88f1663eecf6fbb988280c4b54baefb274921b0436c6ceb2622da545cd649",
)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def start(data: Path, *flags: str) -> tuple[subprocess.Popen[bytes], str]:
    port = free_port()
    command = [sys.executable, "-m", "tardis_simulator", f"--simulator-port={port}", f"--simulator-data-dir={data}", *flags]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("TM_")}
    process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE)
    return process, f"http://127.0.0.1:{port}"


def wait_until_ready(process: subprocess.Popen[bytes], url: str) -> None:
    for _ in range(200):
        try:
            if httpx.get(f"{url}/ready").status_code == 200:
                return
        except httpx.TransportError:
            assert process.poll() is None, "the simulator ended"
            time.sleep(0.05)
    raise AssertionError("the simulator did not become ready")


@contextmanager
def running(data: Path, *flags: str) -> Iterator[tuple[subprocess.Popen[bytes], httpx.Client]]:
    process, url = start(data, *flags)
    try:
        wait_until_ready(process, url)
        with httpx.Client(base_url=url, timeout=60) as client:
            yield process, client
    finally:
        process.kill()
        process.communicate()


@pytest.fixture(scope="module")
def simulator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    with running(tmp_path_factory.mktemp("data"), "--simulator-rate=300") as (_, client):
        yield client


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def raw(client: httpx.Client, path: str) -> tuple[httpx.Response, bytes]:
    """The answer and its body as it came over the wire."""
    with client.stream("GET", path) as answer:
        return answer, b"".join(answer.iter_raw())


def test_known_bytes_over_http(simulator: httpx.Client) -> None:
    answer, body = raw(simulator, f"{FEED}/binance?{FROM}&offset=6")
    assert sha256(gzip.decompress(body)) == BINANCE_6
    assert answer.headers["content-type"] == "application/x-ndjson"
    assert answer.headers["content-encoding"] == "gzip"
    assert (answer.headers["x-slice-size"], answer.headers["x-suggested-slice-size"]) == ("1", "1")


def test_zstd_has_a_frame_per_minute(simulator: httpx.Client) -> None:
    answer, body = raw(simulator, f"{FEED}/bitmex?{FROM}&sliceSize=7&compression=zstd")
    assert (answer.headers["content-encoding"], answer.headers["x-slice-size"]) == ("zstd", "7")
    assert sha256(zstandard.decompress(body)) == BITMEX_0_TO_6[0]
    frames, reader = 0, zstandard.ZstdDecompressor()
    while body:
        frame = reader.decompressobj()
        text = frame.decompress(body)
        body, frames = frame.unused_data, frames + 1
    assert frames == 7
    assert sha256(text) == BITMEX_0_TO_6[1]


def test_minutes_after_the_last_are_empty(simulator: httpx.Client) -> None:
    _, body = raw(simulator, f"{FEED}/bitmex?{FROM}&offset=60")
    assert gzip.decompress(body) == b""


def test_answers_do_not_depend_on_order_process_or_company(simulator: httpx.Client, tmp_path: Path) -> None:
    paths = [f"{FEED}/{exchange}?{FROM}&offset={minute}" for minute in (5, 0, 3) for exchange in ("deribit", "binance")]
    with running(tmp_path, "--simulator-rate=300") as (_, other), ThreadPoolExecutor(6) as pool:
        together = list(pool.map(lambda path: other.get(path).text, paths))
    assert together == [simulator.get(path).text for path in reversed(paths)][::-1]


def test_other_requests_are_answered_while_data_is_made(simulator: httpx.Client) -> None:
    with ThreadPoolExecutor(1) as pool:
        slow = pool.submit(simulator.get, f"{FEED}/deribit?from=2020-03-01&offset=59")
        answered = 0
        while not slow.done():
            assert simulator.get("/v1/exchanges").status_code == 200
            answered += 1
    assert slow.result().status_code == 200
    assert answered > 5


def test_a_cut_connection(simulator: httpx.Client) -> None:
    simulator.post("/faults", json={"cutAfterBytes": 1000, "times": 1})
    received: list[bytes] = []
    with simulator.stream("GET", f"{FEED}/bitmex?{FROM}") as answer, pytest.raises(httpx.RemoteProtocolError):
        received.extend(answer.iter_raw())
    assert len(b"".join(received)) == 1000
    assert simulator.get(f"{FEED}/bitmex?{FROM}").status_code == 200
    simulator.delete("/faults")


def test_a_stalled_connection(simulator: httpx.Client) -> None:
    simulator.post("/faults", json={"stallAfterBytes": 1000, "stallS": 30, "times": 1})
    with pytest.raises(httpx.ReadTimeout):
        simulator.get(f"{FEED}/bitmex?{FROM}", timeout=0.3)
    simulator.delete("/faults")


def test_scaled_mode_has_as_many_symbols_as_wanted(tmp_path: Path) -> None:
    with running(tmp_path, "--simulator-mode=scaled", "--simulator-symbols=50", "--simulator-rate=500") as (_, client):
        assert len(client.get("/v1/instruments/binance").json()) == 50
        filters = '[{"channel":"depthSnapshot","symbols":["sim0042usdt"]}]'
        lines = client.get(f"{FEED}/binance?{FROM}", params={"from": "2020-02-01", "filters": filters}).text.splitlines()
        assert len(lines) == 1
        assert '"stream":"sim0042usdt@depthSnapshot"' in lines[0]


def test_a_stop_that_is_asked_for_is_no_error_and_a_restart_goes_on(tmp_path: Path) -> None:
    flags = ("--simulator-rate=300", "--simulator-api-key=s3cret", "--log-format=json")
    with running(tmp_path, *flags) as (process, client):
        client.get(f"{FEED}/binance?{FROM}&offset=2")
        process.send_signal(signal.SIGTERM)
        _, log = process.communicate(timeout=15)
        assert process.returncode == 0
        assert b'"message": "stopping"' in log
        assert b"s3cret" not in log
    with running(tmp_path, *flags) as (_, client):
        assert sha256(client.get(f"{FEED}/binance?{FROM}&offset=6").content) == BINANCE_6


def test_a_busy_simulator_stops_too(tmp_path: Path) -> None:
    with running(tmp_path, "--simulator-rate=5000000") as (process, client), ThreadPoolExecutor(1) as pool:
        endless = pool.submit(client.get, f"{FEED}/bitmex?{FROM}")
        while not list(tmp_path.glob("*/minutes/bitmex/*.lock")):
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=20)
        assert process.returncode == 0
        assert isinstance(endless.exception(), httpx.TransportError) or endless.result().status_code == 500


def test_workers_end_with_a_killed_server(tmp_path: Path) -> None:
    with running(tmp_path, "--simulator-rate=300") as (process, client):
        client.get(f"{FEED}/bitmex?{FROM}")
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        if not children.exists():
            pytest.skip("the kernel does not list children")
        workers = [
            Path("/proc", pid)
            for pid in children.read_text().split()
            if b"spawn_main" in Path("/proc", pid, "cmdline").read_bytes()
        ]
        assert workers
        process.kill()
        process.wait()
        for _ in range(100):
            if not any(worker.exists() and " Z " not in (worker / "stat").read_text() for worker in workers):
                return
            time.sleep(0.05)
        raise AssertionError("workers outlived their server")


@pytest.mark.parametrize(
    ("flags", "code", "line"),
    [
        (["--simulator-overlay=/nowhere"], 2, "simulator-overlay: no such folder"),
        (["--simulator-data-dir=/dev/null/x"], 2, "simulator-data-dir: cannot be made"),
    ],
)
def test_wrong_settings_end_with_one_line(tmp_path: Path, flags: list[str], code: int, line: str) -> None:
    process, _ = start(tmp_path, *flags)
    _, printed = process.communicate(timeout=15)
    assert process.returncode == code
    assert printed.decode().startswith(line)
    assert printed.count(b"\n") == 1
