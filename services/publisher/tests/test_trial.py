"""A pack is deadly if the child that decodes it dies, and only then."""

from __future__ import annotations

import sys
from io import BytesIO, TextIOWrapper

import pytest

from tardis_bronze import LaneEvents, write_pack
from tardis_bronze.wire import sized
from tardis_publisher.trial import main as trial
from tardis_publisher.trial import survives


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("import sys; sys.exit(0)", True),
        ("import sys; sys.exit(1)", True),  # the trial itself could not be held
        ("import sys; sys.exit(3)", False),
        ("import os; os.abort()", False),
        ("import os; os.kill(os.getpid(), 15)", True),
        ("import time; time.sleep(60)", False),
    ],
)
async def test_verdicts(code: str, expected: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tardis_publisher.trial.COMMAND", (sys.executable, "-c", code))
    monkeypatch.setattr("tardis_publisher.trial.TRIAL_TIMEOUT_S", 2.0)
    assert await survives(b"x" * 1_000_000) is expected


async def test_without_a_child_there_is_no_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tardis_publisher.trial.COMMAND", ("/no/such/program",))
    assert await survives(b"")


@pytest.mark.parametrize("data", [b"", b"TBPK", write_pack(LaneEvents(0, 1, sized(b"\xff\xff")))])
def test_wrong_bytes_are_no_crime(data: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(data)))
    trial()


def test_the_trial_ends_with_its_own_code_when_decoding_breaks(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(data: bytes) -> None:
        raise MemoryError

    monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(b"any")))
    monkeypatch.setattr("tardis_publisher.trial.read_pack", broken)
    with pytest.raises(SystemExit) as ended:
        trial()
    assert ended.value.code == 3
