"""`tardis-machine` as `make run` starts it: everything up with one command, everything drained with Ctrl-C."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from tardis_machine import Machine, MachineSettings
from tardis_machine import children as children_module
from tardis_machine.banner import banner
from tardis_machine.children import Child
from tardis_settings import HandoffOptions, MachineOptions, NatsOptions, PublisherOptions, ServerOptions, SimulatorOptions, load
from tardis_testing import Program, free_port, wait_until

ROOT = Path(__file__).parents[3]


def machine(folder: Path, *words: str, environment: Mapping[str, str] | None = None) -> Program:
    ports = [free_port() for _ in range(3)]
    settings = [
        *(() if environment else ("--config", str(ROOT / "deploy/local.yaml"))),
        *("--port", str(ports[0]), "--workers", "1"),
        *("--handoff-embedded-port", str(ports[1]), "--nats-servers", f"nats://127.0.0.1:{ports[1]}"),
        *("--simulator-port", str(ports[2]), "--simulator-rate", "2000", "--simulator-data-dir", str(folder / "data")),
        *("--cache-dir", str(folder / "cache"), "--handoff-spool-dir", str(folder / "spool")),
    ]
    return Program([sys.executable, "-m", "tardis_machine", *settings, *words], folder / "machine.log", environment)


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
    assert children(running)["publisher-nats"] != first


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


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_a_key_from_a_file_reaches_the_gateway_and_nobody_else(tmp_path: Path) -> None:
    key, config = tmp_path / "key", tmp_path / "settings.yaml"
    key.write_text("the-vendors-key\n")
    config.write_text("nats: {subject: market.bronze, stream: MARKET}\nsimulator: {api-key: the-simulators-key}\n")
    settings = {"TM_API_KEY_FILE": str(key), "TM_CONFIG": str(config), "TM_NATS_SUBJECT": "from.environment"}
    with machine(tmp_path, environment=settings) as program:
        wait_until(lambda: "Ctrl-C" in program.text, within=90, what="banner")
        wait_until(lambda: "publisher is running" in program.text, within=30, what="publisher")
        seen = {name: Path(f"/proc/{pid}/environ").read_text() for name, pid in children(program).items()}
        assert set(seen) == {"queue", "publisher-nats", "gateway"}
        assert "TM_API_KEY=the-vendors-key" in seen["gateway"]
        assert "TM_NATS_SUBJECT=from.environment" in seen["publisher-nats"]
        assert "TM_NATS_" not in seen["gateway"]
        for name in ("queue", "publisher-nats"):
            assert not re.search(r"TM_\w*KEY", seen[name])
            assert "-key" not in seen[name]
        assert not any(re.search(r"TM_\w+_FILE=|TM_CONFIG=", text) for text in seen.values())
        assert program.stop(60) == 0
        assert "has ended" not in program.text


def loaded(*words: str) -> MachineSettings:
    found = load(MachineOptions, ServerOptions, HandoffOptions, PublisherOptions, NatsOptions, SimulatorOptions, argv=words, env={})
    return MachineSettings(
        machine=found[MachineOptions],
        server=found[ServerOptions],
        handoff=found[HandoffOptions],
        publisher=found[PublisherOptions],
        nats=found[NatsOptions],
        simulator=found[SimulatorOptions],
    )


def test_the_banner_shows_no_credentials() -> None:
    servers = "nats://user:secret@one:4222,nats://secret-token@two"
    text = banner(Machine(loaded("--handoff-url", "nats://me:secret@queue", "--nats-servers", servers, "--nats-subject", "a")))
    assert "secret" not in text
    assert all(f"nats://***@{host}" in text for host in ("queue", "one:4222", "two"))
    assert "tardis tail nats --nats-servers nats://one:4222,nats://two --nats-subject a\n" in text


def test_backends_that_are_not_configured_are_refused() -> None:
    def run(*words: str) -> tuple[int, str]:
        command = [sys.executable, "-m", "tardis_machine", *words]
        done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
        return done.returncode, done.stderr

    code, text = run("--handoff-backends", "kafka")
    assert (code, text.count("\n")) == (2, 1)
    assert text.startswith("handoff-backends: kafka does not fit")
    nats = ("--nats-servers", "nats://localhost", "--nats-subject", "a")
    assert run(*nats, "--handoff-backends", "nats,kafka")[0] == 2
    assert loaded(*nats, "--handoff-backends", "nats").problem() is None
    assert loaded(*nats).problem() is None
    assert loaded().problem() is None


async def test_a_child_that_cannot_be_started_again_is_tried_until_it_can(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    monkeypatch.setattr(children_module, "FIRST_DELAY_S", 0.1)
    sleeper = tmp_path / "sleeper"
    sleeper.write_text("#!/bin/sh\nexec sleep 60\n")
    sleeper.chmod(0o700)
    child = Child(children_module.Program(name="sleeper", command=[str(sleeper)]))
    await child.start()
    sleeper.rename(tmp_path / "away")
    os.kill(started(caplog)[-1], signal.SIGKILL)
    await eventually(lambda: caplog.text.count("child cannot be started") >= 2)
    (tmp_path / "away").rename(sleeper)
    await eventually(lambda: len(started(caplog)) == 2)
    await child.stop()
    assert not any(alive(pid) for pid in started(caplog))


async def test_a_child_that_waits_for_its_next_start_stops_at_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(children_module, "FIRST_DELAY_S", 60.0)
    child = Child(children_module.Program(name="short", command=["true"]))
    await child.start()
    await eventually(lambda: "child has ended" in caplog.text)
    async with asyncio.timeout(5):
        await child.stop()


def started(caplog: pytest.LogCaptureFixture) -> list[int]:
    return [record.fields["pid"] for record in caplog.records if record.getMessage() == "started"]  # type: ignore[attr-defined]


async def eventually(true: Callable[[], object]) -> None:
    async with asyncio.timeout(20):
        while not true():
            await asyncio.sleep(0.02)


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
