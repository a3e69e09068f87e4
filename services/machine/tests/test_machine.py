"""`tardis-machine` as `make run` starts it: everything up with one command, everything drained with Ctrl-C."""

from __future__ import annotations

import http.client
import json
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tardis_testing import Program, free_port, wait_until

ROOT = Path(__file__).parents[3]


def machine(folder: Path, *words: str) -> Program:
    ports = [free_port() for _ in range(3)]
    settings = [
        *("--config", str(ROOT / "deploy/local.yaml"), "--port", str(ports[0]), "--workers", "1"),
        *("--handoff-embedded-port", str(ports[1]), "--nats-servers", f"nats://127.0.0.1:{ports[1]}"),
        *("--simulator-port", str(ports[2]), "--simulator-rate", "2000", "--simulator-data-dir", str(folder / "data")),
        *("--cache-dir", str(folder / "cache"), "--handoff-spool-dir", str(folder / "spool")),
    ]
    return Program([sys.executable, "-m", "tardis_machine", *settings, *words], folder / "machine.log")


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    with machine(tmp_path_factory.mktemp("machine")) as made:
        wait_until(lambda: "Ctrl-C" in made.text, within=90, what=f"banner in {made.output}")
        yield made
        if made.running:
            made.stop(60)


def children(program: Program) -> dict[str, int]:
    return {name: int(pid) for name, pid in re.findall(r"started child=(\S+) pid=(\d+)", program.text)}


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def suggested(program: Program) -> list[str]:
    """The three commands that the banner offers."""
    after = program.text.partition("Try, in another terminal:")[2].partition("Ctrl-C")[0]
    return [line.strip() for line in after.strip().splitlines()]


def test_the_suggested_commands_work_as_printed(running: Program) -> None:
    tail, replay, metrics = suggested(running)
    assert tail.startswith(".venv/bin/tardis tail nats ")
    body = subprocess.run(replay, shell=True, capture_output=True, text=True, timeout=60, check=True).stdout
    lines = [json.loads(line) for line in body.splitlines()]
    assert len(lines) == 10
    assert {line["exchange"] for line in lines} == {"bitmex"}
    words = shlex.split(tail)[1:]
    command = [sys.executable, "-m", "tardis_cli", *words, "--from-start", "--count", "10"]
    events = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout.splitlines()
    assert [json.loads(event)["stream_seq"] for event in events] == list(range(1, 11))
    shown = subprocess.run(metrics, shell=True, capture_output=True, text=True, timeout=60, check=True).stdout
    assert "tardis_gateway_http_requests_total" in shown


def test_a_child_that_dies_is_started_again(running: Program) -> None:
    first = children(running)["publisher-nats"]
    os.kill(first, signal.SIGKILL)
    wait_until(lambda: running.text.count("publisher is running") >= 2, within=30, what="a second publisher")


def test_made_up_slices_never_mix_with_real_ones(running: Program) -> None:
    cache = running.output.parent / "cache"
    assert {path.name for path in cache.iterdir()} == {"demo"}


def test_ctrl_c_stops_everything(running: Program) -> None:
    pids = children(running)
    assert set(pids) == {"queue", "simulator", "publisher-nats", "gateway"}
    os.kill(running.pid, signal.SIGINT)
    assert running.wait(60) == 0
    wait_until(lambda: not any(alive(pid) for name, pid in pids.items()), within=10, what="children are gone")


def test_kill_9_of_the_machine_takes_its_children_along(tmp_path: Path) -> None:
    with machine(tmp_path) as program:
        wait_until(lambda: "Ctrl-C" in program.text, within=90, what="banner")
        pids = children(program)
        program.kill()
        wait_until(lambda: not any(alive(pid) for pid in pids.values()), within=30, what="children are gone")


def test_without_a_backend_there_is_only_the_gateway(tmp_path: Path) -> None:
    port = free_port()
    words = [
        "--port",
        str(port),
        "--workers",
        "1",
        "--cache-dir",
        str(tmp_path / "cache"),
        "--handoff-spool-dir",
        str(tmp_path / "s"),
    ]
    with Program([sys.executable, "-m", "tardis_machine", *words], tmp_path / "log") as program:
        wait_until(lambda: "Ctrl-C" in program.text, within=60, what="banner")
        assert set(children(program)) == {"gateway"}
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        connection.request("GET", "/health-check")
        assert connection.getresponse().status == 200
        connection.close()
        assert not (tmp_path / "s").exists()
        assert program.stop() == 0


def test_a_port_in_use_is_named(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = subprocess.run(
            [sys.executable, "-m", "tardis_machine", "--port", str(port)], capture_output=True, text=True, timeout=30, check=False
        )
    assert (done.returncode, done.stderr.strip()) == (1, f"port: {port} is in use by another program")
